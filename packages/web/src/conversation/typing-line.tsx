import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { useChat, useNames } from '../services/context.js';
import { useReading } from '../services/use-reading.js';
import styles from './conversation-page.module.css';

/** Names of people who are typing; it keeps its height, so that nothing moves. */
export function TypingLine({ destination }: { readonly destination: Destination }) {
  const { i18n } = useLingui();
  const userIds = useReading(useChat().typing.typists(destination));
  const names = useNames(userIds);
  const people = new Intl.ListFormat(i18n.locale, { type: 'conjunction' }).format(names);
  return (
    <p className={styles.typing} aria-live="polite">
      {names.length > 3
        ? i18n._('Several people are typing…')
        : names.length > 0 &&
          i18n._('{count, plural, one {{people} is typing…} other {{people} are typing…}}', {
            count: names.length,
            people,
          })}
    </p>
  );
}
