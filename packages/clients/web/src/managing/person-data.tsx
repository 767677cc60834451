import { useLingui } from '@lingui/react';
import { useCallback, useEffect } from 'react';
import overlays from '../kit/overlays.module.css';
import { sizeText } from '../kit/size-text.js';
import { useChat, useServices } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import { useManagement } from '../services/use-management.js';
import { passwordUnlessRecent } from './fields.js';
import { ValuesDialog } from './form.js';
import styles from './managing.module.css';
import { timeOf, useFetched } from './personal-lists.js';

/** Interval for asking whether the archive is complete, since no event reports it. */
const POLL_MS = 3000;

interface Props {
  readonly userId: number;
  /** Button that opened the surrounding dialog, which the question for the password replaces. */
  readonly anchor?: HTMLElement;
}

/** Archive of everything stored about a person: its request, state and download. */
export function PersonData({ userId, anchor }: Props) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api } = useManagement();
  const { baseUrl } = useServices();
  const fetch = useCallback(
    async () => (await api.get('/export/users', {})).exports.filter((each) => each.user_id === userId),
    [api, userId],
  );
  const [found, reload] = useFetched(fetch);
  const copy = found?.[0];
  const isPending = copy?.status === 'pending';
  useEffect(() => {
    if (!isPending) return;
    const timer = setInterval(reload, POLL_MS);
    return () => clearInterval(timer);
  }, [isPending, reload]);
  const title = userId === state.selfId ? i18n._('Download my data') : i18n._('Request data');
  const request = async (password: unknown) => {
    await api.post('/export/users', { user_id: userId, password: String(password ?? '') });
    reload();
  };
  const dialog = (
    <ValuesDialog
      title={title}
      action={i18n._('Request')}
      settings={[passwordUnlessRecent(i18n)]}
      onSubmit={({ password }) => request(password)}
    />
  );
  const url = new URL(`api/v1/export/users/${copy?.id}/archive`, baseUrl).href;
  return (
    <section className={styles.section}>
      <h3>{i18n._('Personal data')}</h3>
      <p className={styles.hint}>
        {i18n._('An archive with profile, settings, messages, direct conversations and files. Keep it secret.')}
      </p>
      {copy && (
        <p role="status">
          {isPending && i18n._('The archive is being created. You are notified when it is complete.')}
          {copy.status === 'failed' &&
            i18n._('The archive could not be created. Ask the operator of the server for it.')}
          {copy.status === 'complete' && (
            <>
              <a href={url} download>
                {i18n._('Download archive')}
              </a>{' '}
              · {sizeText(i18n, copy.size)} · {i18n._('until {time}', { time: timeOf(copy.expires_at, i18n) })}
            </>
          )}
        </p>
      )}
      {found && (!copy || copy.next_at * 1000 <= Date.now()) && (
        <button
          type="button"
          className={overlays.button}
          aria-haspopup="dialog"
          onClick={({ currentTarget }) => openOverlay(anchor ?? currentTarget, async () => dialog)}
        >
          {title}
        </button>
      )}
      {copy && !isPending && copy.next_at * 1000 > Date.now() && (
        <p className={styles.hint}>
          {i18n._('You can request another archive from {time}.', { time: timeOf(copy.next_at, i18n) })}
        </p>
      )}
    </section>
  );
}
