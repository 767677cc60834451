import { useLingui } from '@lingui/react';
import { ParleyError } from '@parley/client';
import { useId, useState } from 'react';
import styles from '../kit/overlays.module.css';
import { fieldValueOf, suggestedTimes, timeOfField, timeText } from './times.js';

interface Props {
  readonly legend: string;
  /** Current value in Unix seconds. */
  readonly initial?: number;
  /** Null while no time is given. */
  onChange(time: number | null): void;
}

type Choice = 'hour' | 'tomorrow' | 'monday' | 'own';

/** Time field with suggestions, or a custom date and time. */
export function TimeField({ legend, initial, onChange }: Props) {
  const { i18n } = useLingui();
  const [{ hour, tomorrow, monday }] = useState(() => suggestedTimes(new Date()));
  const [choice, setChoice] = useState<Choice>(initial === undefined ? 'tomorrow' : 'own');
  const [own, setOwn] = useState(() => fieldValueOf(initial ?? tomorrow));
  const name = useId();
  const clockOf = (time: number) => i18n.date(new Date(time * 1000), { timeStyle: 'short' });
  const option = (value: Choice, time: number | null, label: string) => (
    <label className={styles.option}>
      <input
        type="radio"
        name={name}
        checked={choice === value}
        onChange={() => {
          setChoice(value);
          onChange(time);
        }}
      />
      {label}
    </label>
  );
  return (
    <fieldset className={styles.options}>
      <legend>{legend}</legend>
      {option('hour', hour, i18n._('In an hour, {time}', { time: clockOf(hour) }))}
      {option('tomorrow', tomorrow, i18n._('Tomorrow, {time}', { time: clockOf(tomorrow) }))}
      {monday !== null && option('monday', monday, i18n._('Next week, {time}', { time: timeText(i18n, monday) }))}
      {option('own', timeOfField(own), i18n._('Another time'))}
      {choice === 'own' && (
        <input
          type="datetime-local"
          className={styles.input}
          aria-label={i18n._('Date and time')}
          required
          value={own}
          onChange={({ target }) => {
            setOwn(target.value);
            onChange(timeOfField(target.value));
          }}
        />
      )}
    </fieldset>
  );
}

/** Initial value of the field. */
export const firstTime = (): number => suggestedTimes(new Date()).tomorrow;

/** @throws ParleyError TIME_PASSED, since the server's error has no specific code */
export function requireFuture(time: number): void {
  if (time * 1000 <= Date.now()) throw new ParleyError('The time must be in the future', 'TIME_PASSED', 0);
}
