import { useId } from 'react';
import { useReading } from '../services/use-reading.js';
import styles from './inbox.module.css';
import type { StoredChoice } from './list-settings.js';

interface Props<T extends string> {
  readonly label: string;
  readonly choice: StoredChoice<T>;
  readonly options: readonly (readonly [value: T, text: string])[];
}

/** Radio buttons in one line, which are one tab stop. */
export function Choices<T extends string>({ label, choice, options }: Props<T>) {
  const name = useId();
  const current = useReading(choice.current);
  return (
    <fieldset className={styles.choices} aria-label={label}>
      {options.map(([value, text]) => (
        <label key={value} className={styles.choice}>
          <input type="radio" name={name} checked={value === current} onChange={() => choice.choose(value)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}
