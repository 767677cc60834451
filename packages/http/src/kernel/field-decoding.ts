import { parseJson, replaceFractionals } from '@parley/domain/kernel';
import { MAX_JSON_LENGTH, MAX_NUMBER_LENGTH } from './limits.js';
import { TooLong } from './param-error.js';

/** How the text of a field becomes a value, which the check of its type then judges: nothing here throws. */

/** What text becomes that should be JSON and is not. */
export const NOT_JSON = Symbol('not JSON');

const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/** Being refused by the parser costs more than everything else about a parameter, and bare words are common. */
const MAY_BE_JSON = /^(?:[\s"[{\d-]|true|false|null)/;

/** `10.0` and `1e3` are no integers to the API, although JavaScript cannot tell them from `10` and `1000`. */
function decodeJson(text: string): unknown {
  const value = parsePlainJson(text);
  if (value === NOT_JSON || !FRACTION.test(text)) return value;
  return parsePlainJson(replaceFractionals(text, unlikeInteger));
}

function parsePlainJson(text: string): unknown {
  if (!MAY_BE_JSON.test(text)) return NOT_JSON;
  try {
    return parseJson(text);
  } catch {
    return NOT_JSON;
  }
}

const FRACTION = /\d[.eE]/;
/** Itself, or where only its value is an integer something that is none. */
const unlikeInteger = (number: string): string =>
  Number.isFinite(Number(number)) && !Number.isInteger(Number(number)) ? number : '0.5';

/** What is longer than anything that fits is not looked at. */
const unlessLonger = (limit: number, decode: (text: string) => unknown) => (text: string) =>
  text.length > limit ? new TooLong(limit) : decode(text);

export const decodeInteger = unlessLonger(
  MAX_NUMBER_LENGTH,
  (text) => (INTEGER.test(text) ? Number(text) + 0 : decodeJson(text)), // + 0: no negative zero
);

export const decodeFloat = unlessLonger(MAX_NUMBER_LENGTH, parsePlainJson);

export const decodeBoolean = unlessLonger(MAX_NUMBER_LENGTH, (text) =>
  text === 'true' ? true : text === 'false' ? false : decodeJson(text),
);

/** White space that JSON may have beside what is counted. */
const JSON_SLACK = 1000;

/** UTF-16 units that a field holds at most, where the longest JSON that fits has so many. */
const fieldLength = (jsonLength: number): number => Math.min(jsonLength + JSON_SLACK, MAX_JSON_LENGTH);

export const jsonDecoder = (jsonLength: number) => unlessLonger(fieldLength(jsonLength), decodeJson);

export const jsonOrTextDecoder = (jsonLength: number) =>
  unlessLonger(fieldLength(jsonLength), (text) => {
    const value = decodeJson(text);
    return value === NOT_JSON ? text : value;
  });
