import { useLingui } from '@lingui/react';
import { type FormEvent, useState } from 'react';
import { Dialog, FailureText } from '../kit/dialog.js';
import overlays from '../kit/overlays.module.css';
import type { Refusal } from '../services/reasons.js';
import styles from './managing.module.css';

interface Props {
  /** True if a person's key requires their password. */
  readonly asksPassword?: boolean;
  read(password: string): Promise<string>;
  replace(): Promise<string>;
}

/** Shows and replaces an API key. */
export function KeyDialog({ asksPassword = false, read, replace }: Props) {
  const { i18n } = useLingui();
  const [key, setKey] = useState<string | null>(null);
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<Refusal | null>(null);
  const [isCopied, setCopied] = useState(false);
  const run = (call: Promise<string>) => {
    setFailure(null);
    setCopied(false);
    call.then(setKey, setFailure);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(read(password));
  };
  return (
    <Dialog title={i18n._('API key')}>
      <form className={overlays.form} onSubmit={submit}>
        {key === null ? (
          <>
            {asksPassword && (
              <label className={overlays.field}>
                {i18n._('Password')}
                <input
                  type="password"
                  required
                  autoComplete="current-password"
                  value={password}
                  onChange={(event) => setPassword(event.target.value)}
                />
              </label>
            )}
            <div className={overlays.buttons}>
              <button type="submit" className={overlays.primary}>
                {i18n._('Show key')}
              </button>
            </div>
          </>
        ) : (
          <>
            <output className={styles.key}>{key}</output>
            <div className={overlays.buttons}>
              <button
                type="button"
                className={overlays.button}
                onClick={() => void navigator.clipboard.writeText(key).then(() => setCopied(true))}
              >
                {isCopied ? i18n._('Copied') : i18n._('Copy')}
              </button>
              <button type="button" className={overlays.dangerous} onClick={() => run(replace())}>
                {i18n._('Replace key')}
              </button>
            </div>
            <p className={styles.hint}>{i18n._('Once replaced, the old key no longer works.')}</p>
          </>
        )}
        <FailureText failure={failure} />
      </form>
    </Dialog>
  );
}
