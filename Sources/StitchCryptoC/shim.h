#pragma once
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

/// The public key of some parameters, or none. OpenSSL keeps the pointers that a builder is given, names
/// among them, until it makes the parameters: Swift's would be gone by then.
static inline EVP_PKEY *StitchPublicKey(const char *kind, OSSL_PARAM_BLD *builder) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, kind, NULL);
  OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
  if (context && parameters && EVP_PKEY_fromdata_init(context) == 1 &&
      EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
    key = NULL;
  }
  OSSL_PARAM_free(parameters);
  EVP_PKEY_CTX_free(context);
  return key;
}

/// An RSA key of two numbers, the greatest byte first, or none.
static inline EVP_PKEY *StitchRSAPublicKey(const unsigned char *modulus, int modulusCount,
                                           const unsigned char *exponent, int exponentCount) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  BIGNUM *n = BN_bin2bn(modulus, modulusCount, NULL);
  BIGNUM *e = BN_bin2bn(exponent, exponentCount, NULL);
  if (builder && n && e && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1) {
    key = StitchPublicKey("RSA", builder);
  }
  BN_free(n);
  BN_free(e);
  OSSL_PARAM_BLD_free(builder);
  return key;
}

/// A key of an uncompressed point of a curve, or none.
static inline EVP_PKEY *StitchECPublicKey(const char *curve, const unsigned char *point,
                                          size_t pointCount) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  if (builder &&
      OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) == 1 &&
      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, pointCount) == 1) {
    key = StitchPublicKey("EC", builder);
  }
  OSSL_PARAM_BLD_free(builder);
  return key;
}
