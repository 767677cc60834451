import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { useChat, useNames } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import styles from './conversation-page.module.css';

/** Placeholder for the names in a text: only names are truncated. */
const PLACE = '\u0000';

/** Names of people who are typing; has a constant height, so that nothing moves. */
export function TypingLine({ destination }: { readonly destination: Destination }) {
  const { i18n } = useLingui();
  const userIds = useReading(useChat().typing.typists(destination));
  const names = useNames(userIds);
  const text =
    names.length > 3
      ? i18n._('Several people are typing…')
      : i18n._('{count, plural, one {{people} is typing…} other {{people} are typing…}}', {
          count: names.length,
          people: PLACE,
        });
  const [before, after] = text.split(PLACE);
  return (
    <p className={styles.typing} aria-live="polite">
      {names.length > 0 && (
        <>
          {before}
          {after !== undefined && (
            <span>{new Intl.ListFormat(i18n.locale, { type: 'conjunction' }).format(names)}</span>
          )}
          {after}
        </>
      )}
    </p>
  );
}
