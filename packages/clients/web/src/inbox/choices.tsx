import { useId } from 'react';
import { CountBadge } from '../kit/badge.js';
import { useReading } from '../services/use-reading.js';
import styles from './inbox.module.css';
import type { StoredChoice } from './list-settings.js';

interface Props<T extends string> {
  readonly label: string;
  readonly choice: StoredChoice<T>;
  /** `waiting`: number shown after the text. */
  readonly options: readonly (readonly [value: T, text: string, waiting?: number])[];
}

/** Radio buttons that are one tab stop. They wrap in narrow windows. */
export function Choices<T extends string>({ label, choice, options }: Props<T>) {
  const name = useId();
  const current = useReading(choice.current);
  return (
    <fieldset className={styles.choices} aria-label={label}>
      {options.map(([value, text, waiting = 0]) => (
        <label key={value} className={styles.choice}>
          <input type="radio" name={name} checked={value === current} onChange={() => choice.choose(value)} />
          {text} <CountBadge count={waiting} />
        </label>
      ))}
    </fieldset>
  );
}
