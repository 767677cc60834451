import { destinationOf, type Narrow, type NarrowTerm } from '../kernel/narrow.js';
import type { ChatState } from '../kernel/state.js';
import { peopleNamed } from '../messages/match.js';

/** Formats a narrow as input for `parseSearch`. Observed inside computations. */
export function formatSearch(state: ChatState, narrow: Narrow): string {
  return narrow
    .map((term) => {
      if (term.operator === 'search' && !term.negated) return term.operand;
      const operand = operandOf(state, term);
      const isPlain = /^[^\s"]+$/.test(operand);
      return `${term.negated ? '-' : ''}${term.operator}:${isPlain ? operand : `"${operand.replaceAll('"', '')}"`}`;
    })
    .join(' ');
}

function operandOf(state: ChatState, { operator, operand }: NarrowTerm): string {
  if (typeof operand === 'string') return operand;
  if (operator === 'channel') return state.channels.get(operand as number)?.channel.name ?? String(operand);
  if (operator === 'near' || operator === 'with' || operator === 'id') return String(operand);
  const ids = typeof operand === 'number' ? [operand] : operand;
  if (ids.length === 0 || ids[0] === state.selfId) return 'me';
  const names = ids.map((id) => state.people.get(id)?.user.full_name ?? String(id)).join(',');
  // Several people may share a name.
  return peopleNamed(state, names)?.join() === ids.join() ? names : ids.join();
}

/** True if a narrow is the result of a search rather than a place. */
export function isSearch(narrow: Narrow): boolean {
  const [first, ...others] = narrow;
  if (!first || destinationOf(narrow)) return false;
  return others.length > 0 || first.negated === true || !['channel', 'is'].includes(first.operator);
}
