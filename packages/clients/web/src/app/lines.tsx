import { useLingui } from '@lingui/react';
import { useEffect } from 'react';
import { X } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { type Services, useChat, usePlace, useServices } from '../services/context.js';
import { isOffline, isServerBusy, lastDone, lastFailure, useReason } from '../services/failures.js';
import { isOverlayLate } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';
import styles from './app.module.css';

/** Unobtrusive line shown while the server is unreachable, or after the session ended. */
export function ConnectionLine() {
  const { i18n } = useLingui();
  const { chat, baseUrl, tokens } = useServices();
  const connection = useReading(chat.connection);
  // The log-in page returns to the current place.
  usePlace(({ hash }) => hash);
  const isServerLate = useReading(isServerBusy);
  const isLate = useReading(isOverlayLate) || isServerLate;
  if (connection.state === 'ended') {
    // The page explains what visitors can do.
    if (chat.isVisitor) return null;
    return (
      <div className={styles.ended} role="alert">
        {endTexts(i18n)[connection.code ?? ''] ?? i18n._('Your session has ended.')}{' '}
        <LogInAgain baseUrl={baseUrl} tokens={tokens} />
      </div>
    );
  }
  if (connection.state === 'online' && isLate) {
    return (
      <output className={styles.offline}>{i18n._('The server is busy. Your last action is still waiting.')}</output>
    );
  }
  if (connection.state !== 'offline' || connection.since === null) return null;
  const since = i18n.date(new Date(connection.since), { timeStyle: 'short' });
  return (
    <output className={styles.offline}>
      {i18n._('No connection since {since}. Messages that you write are sent later.', { since })}
    </output>
  );
}

/** Shown on servers that send nothing, such as copies for trying things. */
export function QuietLine() {
  const { i18n } = useLingui();
  if (document.querySelector('meta[name=parley-quiet]') === null) return null;
  return (
    <div className={styles.offline} role="note">
      {i18n._('Test server: emails, notifications, webhooks, scheduled messages and reminders are not sent.')}
    </div>
  );
}

/** Links to the log-in page and back; with passed tokens, requests another one from the host page. */
export function LogInAgain({ baseUrl, tokens }: Pick<Services, 'baseUrl' | 'tokens'>) {
  const { i18n } = useLingui();
  if (tokens) {
    return (
      <button type="button" className={styles.again} onClick={() => tokens.again()}>
        {i18n._('Try again')}
      </button>
    );
  }
  return (
    <a href={`${baseUrl}login/?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`}>
      {i18n._('Log in')}
    </a>
  );
}

type I18n = ReturnType<typeof useLingui>['i18n'];

const endTexts = (i18n: I18n): Readonly<Record<string, string>> => ({
  USER_DEACTIVATED: i18n._('Your account has been deactivated.'),
  REALM_DEACTIVATED: i18n._('This organization has been deactivated.'),
});

/** Briefly confirms a command, also to screen readers. */
export function DoneLine() {
  const { text, number } = useReading(lastDone);
  return (
    <output className={styles.done}>
      <span key={number}>{text}</span>
    </output>
  );
}

/** Error of the last command, shown until closed or until the user navigates. */
export function FailureLine() {
  const { i18n } = useLingui();
  const failure = useReading(lastFailure);
  const reason = useReason(failure);
  const { state } = useReading(useChat().connection);
  // The connection line already reports it.
  useEffect(() => {
    if (state === 'online' && isOffline(lastFailure.peek())) lastFailure.value = null;
  }, [state]);
  const place = usePlace(({ key }) => key);
  // biome-ignore lint/correctness/useExhaustiveDependencies: going to another place ends it.
  useEffect(
    () => () => {
      lastFailure.value = null;
    },
    [place],
  );
  if (reason === '' || state === 'ended' || (state !== 'online' && isOffline(failure))) return null;
  return (
    <div className={styles.failure} role="alert">
      <span>{reason}</span>
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
