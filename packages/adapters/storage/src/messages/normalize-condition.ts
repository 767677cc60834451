import { firstOf } from '@parley/domain/kernel';
import { EVERY_MESSAGE, type MessageCondition, NO_MESSAGE, type SimpleCondition } from '@parley/domain/messages';

/**
 * Normalizes a condition: `not` only before simple conditions, and no trivial parts. `anyOf` and `allOf` have at
 * least two parts unless they are the whole condition.
 */
export function normalize(condition: MessageCondition, negated: boolean): MessageCondition {
  switch (condition.kind) {
    case 'not':
      return normalize(condition.condition, !negated);
    case 'anyOf':
    case 'allOf': {
      const isAnyOf = (condition.kind === 'anyOf') !== negated;
      const kind = isAnyOf ? 'anyOf' : 'allOf';
      const parts = condition.conditions
        .map((each) => normalize(each, negated))
        .flatMap((each) => (each.kind === kind ? each.conditions : [each]));
      const decisive = isAnyOf ? isEverything : isNothing;
      if (parts.some(decisive)) return isAnyOf ? EVERY_MESSAGE : NO_MESSAGE;
      return parts.length === 1 ? firstOf(parts) : { kind, conditions: parts };
    }
    case 'recipient':
      return condition.recipientIds.length === 0 ? constant(negated) : signed(condition, negated);
    case 'channelTopic':
      return condition.topics.length === 0 ? constant(negated) : signed(condition, negated);
    case 'channelPrivacy':
      return condition.privacies.length === 0 ? constant(negated) : signed(condition, negated);
    default:
      return signed(condition, negated);
  }
}

const constant = (value: boolean): MessageCondition => (value ? EVERY_MESSAGE : NO_MESSAGE);
const signed = (condition: SimpleCondition, negated: boolean): MessageCondition =>
  negated ? { kind: 'not', condition } : condition;
const isEverything = (each: MessageCondition) => each.kind === 'allOf' && each.conditions.length === 0;
export const isNothing = (each: MessageCondition) => each.kind === 'anyOf' && each.conditions.length === 0;

/** True for a phrase search that is negated or part of a combination. */
export const hasPhrasesInside = (condition: MessageCondition): boolean =>
  (condition.kind === 'not' && hasPhrases(condition.condition)) ||
  ((condition.kind === 'anyOf' || condition.kind === 'allOf') && condition.conditions.some(hasPhrases));

const hasPhrases = (condition: MessageCondition): boolean =>
  condition.kind === 'search' ? condition.phrases.length > 0 : hasPhrasesInside(condition);
