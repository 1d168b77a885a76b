// The formats of Intl, by the methods of dates, numbers and texts.
class DateTimeFormat {
  #locales;
  #options;
  constructor(locales, options = {}) {
    const parts = ['weekday', 'year', 'month', 'day', 'hour', 'minute', 'second',
      'fractionalSecondDigits', 'dateStyle', 'timeStyle'];
    const isUsual = parts.every(name => options[name] === undefined);
    this.#locales = locales;
    this.#options = isUsual
      ? { ...options, year: 'numeric', month: 'numeric', day: 'numeric' } : { ...options };
    new Date(0).toLocaleString(this.#locales, this.#options);
  }
  format = (date = new Date()) => {
    const text = new Date(date).toLocaleString(this.#locales, this.#options);
    if (text === 'Invalid Date') throw new RangeError('Invalid time value');
    return text;
  };
  resolvedOptions() {
    return { locale: 'en-US', calendar: 'gregory', numberingSystem: 'latn', timeZone: 'UTC',
      ...this.#options };
  }
  formatToParts() { missing('DateTimeFormat.formatToParts', 'format'); }
}
class NumberFormat {
  #locales;
  #options;
  constructor(locales, options = {}) {
    this.#locales = locales;
    this.#options = { ...options };
    (0).toLocaleString(this.#locales, this.#options);
  }
  format = value => {
    const isPlain = Object.keys(this.#options).length === 0;
    const number = typeof value === 'bigint' && isPlain ? value : Number(value);
    return number.toLocaleString(this.#locales, this.#options);
  };
  resolvedOptions() {
    return { locale: 'en-US', numberingSystem: 'latn', style: 'decimal', ...this.#options };
  }
  formatToParts() { missing('NumberFormat.formatToParts', 'format'); }
}
class Collator {
  #locales;
  #options;
  constructor(locales, options = {}) {
    this.#locales = locales;
    this.#options = { ...options };
    ''.localeCompare('a', this.#locales, this.#options);
  }
  compare = (left, right) => String(left).localeCompare(right, this.#locales, this.#options);
  resolvedOptions() { return { locale: 'en-US', usage: 'sort', ...this.#options }; }
}
const missing = (name, other) => {
  throw failed(MongoshUnimplementedError, `Intl.${name} is missing; ` +
    (other ? `use ${other}` : 'Intl has DateTimeFormat, NumberFormat and Collator'));
};
g.Intl = {
  // These may be called without new.
  DateTimeFormat: function (locales, options) { return new DateTimeFormat(locales, options); },
  NumberFormat: function (locales, options) { return new NumberFormat(locales, options); },
  Collator: function (locales, options) { return new Collator(locales, options); },
  PluralRules() { missing('PluralRules'); },
  RelativeTimeFormat() { missing('RelativeTimeFormat'); },
  ListFormat() { missing('ListFormat'); },
};
