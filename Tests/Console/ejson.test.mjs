// Run: node --test Tests/Console/ejson.test.mjs
import test from "node:test";
import assert from "node:assert/strict";
import { cp, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// Node takes .js for a module only in a folder that says so.
const folder = await mkdtemp(join(tmpdir(), "console-"));
await cp(fileURLToPath(new URL("../../Sources/StitchConsoleC/Pages/js", import.meta.url)), folder, { recursive: true });
await writeFile(join(folder, "package.json"), '{"type": "module"}');
const load = (name) => import(pathToFileURL(join(folder, name)));
const { parse, parseDocument, parseReply, stringify } = await load("ejson.js");
const { shellText } = await load("shell-text.js");
const { differenceOf } = await load("difference.js");

test("relaxed text becomes Extended JSON", () => {
  const table = [
    ["{_id: 1}", '{"_id":{"$numberInt":"1"}}'],
    ["{a: 1.0, b: 1.5, c: -0}", '{"a":{"$numberDouble":"1.0"},"b":{"$numberDouble":"1.5"},"c":{"$numberDouble":"-0.0"}}'],
    ["{n: 5000000000}", '{"n":{"$numberLong":"5000000000"}}'],
    ["{n: -2147483648}", '{"n":{"$numberInt":"-2147483648"}}'],
    ["{n: 99999999999999999999}", '{"n":{"$numberDouble":"100000000000000000000.0"}}'],
    ["{'a.b': 'x', \"c\": \"\\u0041\",}", '{"a.b":"x","c":"A"}'],
    ['{at: ISODate("1970-01-01T00:00:01Z")}', '{"at":{"$date":{"$numberLong":"1000"}}}'],
    ["{at: new Date(5)}", '{"at":{"$date":{"$numberLong":"5"}}}'],
    ["{i: ObjectId('0123456789ABCDEF01234567')}", '{"i":{"$oid":"0123456789abcdef01234567"}}'],
    ["{n: NumberLong('9223372036854775807')}", '{"n":{"$numberLong":"9223372036854775807"}}'],
    ["{r: /a\\/b/i}", '{"r":{"$regularExpression":{"pattern":"a/b","options":"i"}}}'],
    ["{$or: [{a: null}, {b: true}]}", '{"$or":[{"a":null},{"b":true}]}'],
    ["{2: NaN, 1: -Infinity, x: Infinity}", '{"2":{"$numberDouble":"NaN"},"1":{"$numberDouble":"-Infinity"},"x":{"$numberDouble":"Infinity"}}'],
    ["// all\n{ /* none */ }", "{}"],
    ['{"__proto__": 1, constructor: 2}', '{"__proto__":{"$numberInt":"1"},"constructor":{"$numberInt":"2"}}'],
  ];
  for (const [text, expected] of table) assert.equal(stringify(parse(text)), expected, text);
});

test("errors say where", () => {
  const table = [
    ["{a: }", /value is expected \(line 1, column 5\)/], ["{a: 1", /line 1, column 6/], ["{a 1}", /colon/],
    ["{a: foo}", /foo is unknown/], ["{a: 1, a: 2}", /twice/], ["{a: toString}", /toString is unknown/],
    ["{a:\n 'x}", /closing quote is missing \(line 2, column 2\)/], ["{} {}", /goes on/], ["{a: ObjectId('x')}", /24 hexa/],
    ["{a: Long('9223372036854775808')}", /too large/], ["{a-b: 1}", /colon/], ["{a: 12x}", /number/],
    ["[".repeat(500), /deeper/], ["{a: constructor()}", /unknown/], ["{a: __proto__}", /unknown/],
  ];
  for (const [text, expected] of table) assert.throws(() => parse(text), { message: expected }, text);
  assert.throws(() => parseDocument("[1]"), /braces/);
  assert.equal(parseDocument("  ").size, 0);
  assert.equal(stringify(parseReply('{"a":1,"a":2}')), '{"a":{"$numberInt":"2"}}');
});

test("the shell text of every value is read back as the same value", () => {
  const values = [
    '{"$numberInt":"-7"}', '{"$numberLong":"7"}', '{"$numberDouble":"1.0"}', '{"$numberDouble":"NaN"}', '{"$numberDouble":"-Infinity"}',
    '{"$numberDouble":"-0.0"}', '{"$numberDouble":"1e+300"}', '{"$numberDouble":"5e-324"}', '{"$numberDecimal":"1E+400"}', '{"$oid":"0123456789abcdef01234567"}',
    '{"$date":{"$numberLong":"-1"}}', '{"$date":{"$numberLong":"9000000000000000"}}', '{"$date":{"$numberLong":"9223372036854775807"}}',
    '{"$binary":{"base64":"AAEC","subType":"80"}}', '{"$timestamp":{"t":5,"i":1}}', '{"$code":"f()"}', '{"$code":"f()","$scope":{"a":{"$numberInt":"1"}}}',
    '{"$symbol":"s"}', '{"$minKey":1}', '{"$maxKey":1}', '{"$undefined":true}', '{"$regularExpression":{"pattern":"a[/]\\\\d","options":"im"}}',
    '{"$regularExpression":{"pattern":"","options":""}}', '"\\u202e\\n\\u0000\\"\'\\\\"', "null", "true", "[]", "{}", '[{"a b":{"1":"x","0":"y"}}]',
  ];
  for (const json of values) {
    const value = parse(`{"value":${json}}`);
    assert.equal(stringify(parse(shellText(value))), stringify(value), shellText(value));
  }
  assert.equal(shellText(parse('{"u":{"$binary":{"base64":"AAECAwQFBgcICQoLDA0ODw==","subType":"04"}}}')), "{\n  u: UUID('00010203-0405-0607-0809-0a0b0c0d0e0f')\n}");
  assert.equal(stringify(parse("{t: Timestamp(5, 1)}")), JSON.stringify({ t: { $timestamp: { t: 5, i: 1 } } }));
  assert.equal(stringify(parse("{u: UUID('00010203-0405-0607-0809-0a0b0c0d0e0f')}")), JSON.stringify({ u: { $binary: { base64: "AAECAwQFBgcICQoLDA0ODw==", subType: "04" } } }));
});

test("a difference rebuilds both texts", () => {
  const [before, after] = ["a\nb\nc\nd", "a\nc\nx\nd"];
  const lines = differenceOf(before, after);
  const without = (kind) => lines.filter((each) => each.kind !== kind).map((each) => each.text).join("\n");
  assert.equal(without("new"), before);
  assert.equal(without("old"), after);
  assert.equal(lines.filter((each) => each.kind === "same").length, 3);
});
