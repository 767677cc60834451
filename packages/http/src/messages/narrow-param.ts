import type { NarrowTerm } from '@parley/domain';
import { decodeJson, listOf, Misfit, type ParamType } from '../routing/param-types.js';

/** What operators were called before, and still are by some clients. */
const PRESENT_NAMES: ReadonlyMap<string, string> = new Map([
  ['stream', 'channel'],
  ['pm-with', 'dm'],
  ['pm_with', 'dm'],
]);

/** Which operands an operator takes (messages §7.1); of those not named here, text. */
const TAKES_TEXT_OR_INTEGER: ReadonlySet<string> = new Set([
  'channel',
  'stream',
  'id',
  'sender',
  'mentions',
  'dm-including',
  'group-pm-with',
  'group_pm_with',
  'with',
]);
const TAKES_TEXT_OR_INTEGERS: ReadonlySet<string> = new Set(['dm', 'pm-with', 'pm_with']);
const TAKES_SOME_TEXT: ReadonlySet<string> = new Set(['search']);

/** `{operator, operand, negated?}` with whatever else, or the older pair of texts. */
const term: ParamType<NarrowTerm> = {
  decode: decodeJson,
  check(value) {
    const { operator, operand, negated } = partsOf(value);
    if (typeof operator !== 'string') throw new Misfit((p) => `${p}["operator"] is not a string`);
    if (negated !== undefined && typeof negated !== 'boolean') {
      throw new Misfit((p) => `${p}["negated"] is not a boolean`);
    }
    return {
      operator: PRESENT_NAMES.get(operator) ?? operator,
      operand: checkOperand(operator, operand),
      negated: negated ?? false,
    };
  },
  schema: {
    anyOf: [
      {
        type: 'object',
        properties: { operator: { type: 'string' }, operand: {}, negated: { type: 'boolean' } },
        required: ['operator', 'operand'],
      },
      { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 },
    ],
  },
};

/** A narrow as requests spell it; what its terms mean is looked up by the use case. */
export const narrow = (): ParamType<NarrowTerm[]> => listOf(term);

interface Parts {
  readonly operator: unknown;
  readonly operand: unknown;
  readonly negated?: unknown;
}

function partsOf(value: unknown): Parts {
  if (Array.isArray(value)) {
    if (value.length !== 2 || value.some((part) => typeof part !== 'string'))
      throw wrong('element is not a string pair');
    return { operator: value[0], operand: value[1] };
  }
  if (typeof value !== 'object' || value === null) throw wrong('dict or list required');
  const { operator, operand, negated } = value as Partial<Parts>;
  if (operand === undefined || operand === null) throw wrong('operand is missing');
  if (operator === undefined || operator === null) throw wrong('operator is missing');
  return { operator, operand, negated };
}

function checkOperand(operator: string, operand: unknown): NarrowTerm['operand'] {
  if (typeof operand === 'string') {
    if (TAKES_SOME_TEXT.has(operator) && operand.trim() === '') throw new Misfit(() => 'operand cannot be blank.');
    return operand;
  }
  if (TAKES_TEXT_OR_INTEGER.has(operator)) {
    if (Number.isSafeInteger(operand)) return operand as number;
    throw new Misfit(() => 'operand is not a string or integer');
  }
  if (TAKES_TEXT_OR_INTEGERS.has(operator)) {
    if (!Array.isArray(operand)) throw new Misfit(() => 'operand is not a string or an integer list');
    const index = operand.findIndex((item) => !Number.isSafeInteger(item));
    if (index !== -1) throw new Misfit(() => `operand[${index}] is not an integer`);
    return operand as number[];
  }
  throw new Misfit(() => 'operand is not a string');
}

const wrong = (what: string): Misfit => new Misfit((p) => `Invalid ${p}: Value error, ${what}`);
