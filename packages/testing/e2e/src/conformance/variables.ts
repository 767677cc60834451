import { isInteger, isList, isObject, type Json } from './json.js';

/** Error for a request that refers to a missing value of an earlier response. */
export class MissingValue extends Error {
  constructor(name: string) {
    super(`no value for ${name}`);
  }
}

const REFERENCE = /\$\{([^}]+)\}/g;

/** Named values of one run. */
export class Variables {
  private readonly values = new Map<string, Json>();

  constructor(private readonly now: () => number = () => Math.floor(Date.now() / 1000)) {}

  set(name: string, value: Json | undefined): void {
    this.values.set(name, value ?? null);
  }

  /** Resolves `name`, `name+3` for integers, `now`, `now-60`. @throws MissingValue */
  get(name: string): Json {
    const now = /^now([+-]\d+)?$/.exec(name);
    if (now) return this.now() + Number(now[1] ?? 0);
    const [, base = '', addend = ''] = /^(.+)([+-]\d+)$/.exec(name) ?? [];
    const sum = this.values.get(base);
    if (isInteger(sum)) return sum + Number(addend);
    const value = this.values.get(name) ?? null;
    if (value === null) throw new MissingValue(name);
    return value;
  }

  /** Fills a template. A string that is only a reference becomes the value itself, of any type. @throws MissingValue */
  fill(template: Json): Json {
    if (typeof template === 'string') {
      const whole = /^\$\{([^}]+)\}$/.exec(template);
      return whole ? this.get(whole[1]!) : this.fillText(template);
    }
    if (isList(template)) return template.map((item) => this.fill(item));
    if (isObject(template)) {
      return Object.fromEntries(
        Object.entries(template).map(([key, value]) => [String(this.fill(key)), this.fill(value)]),
      );
    }
    return template;
  }

  /** @throws MissingValue */
  fillText(template: string): string {
    return template.replace(REFERENCE, (_, name: string) => String(this.get(name)));
  }
}

/** Returns a value inside a response by path: `a.b.0.c`, `a.[name=x].id`. Null if there is none. */
export function dig(body: Json, path: string): Json {
  let at: Json = body;
  for (const step of path.match(/[^.[\]]+|\[[^\]]+\]/g) ?? []) {
    const wanted = /^\[([^=]*)=(.*)\]$/.exec(step);
    if (wanted) {
      const [, key = '', value] = wanted;
      at = isList(at) ? (at.find((item) => isObject(item) && String(item[key]) === value) ?? null) : null;
    } else if (isList(at)) {
      at = at.at(Number(step)) ?? null;
    } else {
      at = isObject(at) ? (at[step] ?? null) : null;
    }
  }
  return at;
}
