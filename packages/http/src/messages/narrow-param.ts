import { findNarrowOperator, type NarrowTerm, narrowOperatorNames, type OperandForm } from '@parley/domain/messages';
import { MAX_IDS, MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { ParamError, TooLong } from '../kernel/param-error.js';
import { checkMember, integer, listOf, type ParamType, text } from '../kernel/param-types.js';

const MAX_TERMS = 100;
/** Of a whole narrow, so that its lists of people together are not much longer than one of them may be. */
const JSON_LENGTH = 100_000;

const words = text({ max: MAX_TEXT_LENGTH });
const people = listOf(integer(), { max: MAX_IDS });

const termSchema = (operator: ParamType<unknown>['schema'], operand: ParamType<unknown>['schema']) => ({
  type: 'object',
  properties: { operator: { type: 'string', ...operator }, operand, negated: { type: 'boolean' } },
  required: ['operator', 'operand'],
  additionalProperties: true,
});

const namesOf = (form: OperandForm) => ({ enum: [...narrowOperatorNames(form)] });

/** `{operator, operand, negated?}` with whatever else, or the older pair of texts. */
const term: ParamType<NarrowTerm> = {
  decode: people.decode,
  check(value) {
    const parts = partsOf(value);
    const operator = checkMember(words, parts, 'operator');
    const { negated } = parts;
    if (negated !== undefined && typeof negated !== 'boolean') {
      throw new ParamError((p) => `${p}["negated"] is not a boolean`);
    }
    return { operator, operand: checkOperand(operator, parts), negated: negated ?? false };
  },
  jsonLength: people.jsonLength + words.jsonLength,
  schema: {
    anyOf: [
      termSchema(namesOf('textOrIntegers'), { anyOf: [words.schema, people.schema] }),
      termSchema(namesOf('textOrInteger'), { anyOf: [words.schema, integer().schema] }),
      termSchema(words.schema, words.schema),
      { type: 'array', items: words.schema, minItems: 2, maxItems: 2 },
    ],
  },
};

/** A narrow as requests spell it; what its terms mean is looked up by the use case. */
export const narrow = (): ParamType<NarrowTerm[]> => listOf(term, { max: MAX_TERMS, jsonLength: JSON_LENGTH });

interface Parts extends Readonly<Record<string, unknown>> {
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

/** Which operands an operator takes (messages §7.1); a word that is none takes text. */
function checkOperand(operator: string, parts: Parts): NarrowTerm['operand'] {
  const { operand } = parts;
  const form = findNarrowOperator(operator)?.operand ?? 'text';
  if (typeof operand === 'string') {
    if (form === 'nonBlankText' && operand.trim() === '') throw new ParamError(() => 'operand cannot be blank.');
    return checkMember(words, parts, 'operand');
  }
  switch (form) {
    case 'textOrInteger':
      if (Number.isSafeInteger(operand)) return operand as number;
      throw new ParamError(() => 'operand is not a string or integer');
    case 'textOrIntegers': {
      if (!Array.isArray(operand)) throw new ParamError(() => 'operand is not a string or an integer list');
      if (operand.length > MAX_IDS) throw new TooLong(MAX_IDS, 'items').within('operand');
      const index = operand.findIndex((item) => !Number.isSafeInteger(item));
      if (index !== -1) throw new ParamError(() => `operand[${index}] is not an integer`);
      return operand as number[];
    }
    default:
      throw new ParamError(() => 'operand is not a string');
  }
}

const wrong = (what: string): ParamError => new ParamError((p) => `Invalid ${p}: Value error, ${what}`);
