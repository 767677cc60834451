import { useField, useServices } from '../services/context.js';
import { characterOf } from './emoji-character.js';
import styles from './kit.module.css';

interface Props {
  readonly type: string;
  readonly code: string;
  readonly name: string;
}

/** Unicode or custom emoji. */
export function Emoji({ type, code, name }: Props) {
  const { baseUrl } = useServices();
  const customEmoji = useField('realm_emoji');
  const label = `:${name}:`;
  if (type === 'unicode_emoji') {
    return (
      <span className={styles.emoji} role="img" aria-label={label} title={label}>
        {characterOf(code)}
      </span>
    );
  }
  const source = customEmoji?.[code]?.source_url;
  if (source === undefined) return <span>{label}</span>;
  return (
    <img src={new URL(source.replace(/^\//, ''), baseUrl).href} alt={label} title={label} width={18} height={18} />
  );
}
