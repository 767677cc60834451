import { DomainError } from '../kernel/errors.js';
import { isLongerThan, takeCodePoints } from '../kernel/text.js';

/** Why somebody reports a message, and what people read. */
export const REPORT_REASONS = {
  spam: 'Spam',
  harassment: 'Harassment',
  inappropriate: 'Inappropriate content',
  norms: 'Violates community norms',
  other: 'Other reason',
} as const;

export type ReportReason = keyof typeof REPORT_REASONS;

/** In code points. */
export const MAX_REPORT_LENGTH = 1000;

/** In the order of messages §15.4. @throws DomainError REPORT_TOO_LONG, REPORT_NEEDS_EXPLANATION */
export function checkReport(reason: ReportReason, description: string): void {
  if (isLongerThan(description, MAX_REPORT_LENGTH)) {
    throw new DomainError('REPORT_TOO_LONG', `description is too long (limit: ${MAX_REPORT_LENGTH} characters)`);
  }
  if (reason === 'other' && description.trim() === '') {
    throw new DomainError('REPORT_NEEDS_EXPLANATION', 'An explanation is required.');
  }
}

/** So much of a message is quoted: the report has to fit in one message with the rest. */
const MAX_QUOTED = 6000;

/** Markdown that quotes a text, whatever fences it holds itself. */
export function quoted(text: string): string {
  const content = isLongerThan(text, MAX_QUOTED) ? `${takeCodePoints(text, MAX_QUOTED)}…` : text;
  const longest = Math.max(2, ...[...content.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.min(longest + 1, 100));
  return `${fence}quote\n${content}\n${fence}`;
}
