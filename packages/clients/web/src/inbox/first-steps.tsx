import { useLingui } from '@lingui/react';
import type { ReactNode } from 'react';
import { Check, X } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { useChat, useComputed, useField, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import styles from './inbox.module.css';

/** List for the first owner of an organization, until dismissed on any device. */
export function FirstSteps() {
  const { i18n } = useLingui();
  const { client, baseUrl } = useServices();
  const { state } = useChat();
  const hasPicture = useField('avatar_source') === 'U';
  const isAlone = useComputed(
    () => [...state.people.values()].every(({ user }) => user.is_bot || user.user_id === state.selfId),
    [state],
  );
  const description = useField('realm_description');
  const icon = useField('realm_icon_source');
  const dismiss = () =>
    void client.post('/users/me/onboarding_steps', { onboarding_step: 'first_steps' }).catch(reportFailure);
  return (
    <section className={styles.steps} aria-labelledby="first-steps">
      <h2 id="first-steps">{i18n._('First steps')}</h2>
      <IconButton icon={X} label={i18n._('Dismiss')} onClick={dismiss} />
      <ul>
        <Step isDone={hasPicture} href="#settings/profile">
          {i18n._('Add your name and picture')}
        </Step>
        <Step isDone={!isAlone} href="#organization/invitations">
          {i18n._('Invite people')}
        </Step>
        <Step isDone={description !== '' || icon === 'U'} href="#organization/organization-profile">
          {i18n._('Describe the organization and choose its icon')}
        </Step>
        <Step href="https://zulip.com/apps/">
          {i18n._("Connect Zulip's apps for phones and desktops to {address}", { address: baseUrl })}
        </Step>
      </ul>
    </section>
  );
}

interface StepProps {
  readonly isDone?: boolean;
  readonly href: string;
  readonly children: ReactNode;
}

function Step({ isDone = false, href, children }: StepProps) {
  const { i18n } = useLingui();
  const { linkTarget = '_blank' } = useServices();
  const isExternal = !href.startsWith('#');
  return (
    <li>
      <a className={styles.row} href={href} {...(isExternal && { target: linkTarget, rel: 'noopener noreferrer' })}>
        <span className={styles.name}>{children}</span>
        {isDone && <Check size={18} role="img" aria-label={i18n._('Done')} />}
      </a>
    </li>
  );
}
