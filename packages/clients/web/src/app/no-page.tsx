import { useLingui } from '@lingui/react';
import { useChat, useServices } from '../services/context.js';
import styles from './app.module.css';
import { LogInAgain } from './lines.js';

/** Shown at addresses without a page. */
export function NotFound() {
  const { i18n } = useLingui();
  const { isVisitor } = useChat();
  return (
    <p className={styles.notFound}>
      {i18n._('There is no such page.')}{' '}
      {isVisitor ? <a href="#feed">{i18n._('Combined feed')}</a> : <a href="#inbox">{i18n._('Inbox')}</a>}
    </p>
  );
}

/** Shown to visitors on pages for people with an account. */
export function NeedsAccount() {
  const { i18n } = useLingui();
  const { baseUrl, tokens } = useServices();
  return (
    <p className={styles.notFound}>
      {i18n._('This page is for people with an account.')} <LogInAgain baseUrl={baseUrl} tokens={tokens} />{' '}
      <a href="#feed">{i18n._('Combined feed')}</a>
    </p>
  );
}

/** Shown to visitors when the organization no longer admits them. */
export function AccessEnded() {
  const { i18n } = useLingui();
  const { baseUrl, tokens } = useServices();
  return (
    <p className={styles.notFound} role="alert">
      {i18n._('This organization can no longer be read without an account.')}{' '}
      <LogInAgain baseUrl={baseUrl} tokens={tokens} />
    </p>
  );
}
