import { useLingui } from '@lingui/react';
import { X } from 'lucide-react';
import { IconButton } from '../kit/icon-button.js';
import { lastFailure } from '../services/failures.js';
import { useReading } from '../services/use-reading.js';
import styles from './app.module.css';

/** Reason why the last command was refused, until it is closed. */
export function FailureLine() {
  const { i18n } = useLingui();
  const failure = useReading(lastFailure);
  if (failure === null) return null;
  return (
    <div className={styles.failure} role="alert">
      <span>{failure}</span>
      <IconButton
        icon={X}
        label={i18n._('Close')}
        onClick={() => {
          lastFailure.value = null;
        }}
      />
    </div>
  );
}
