import { useLingui } from '@lingui/react';
import type { SettingsSource } from '@parley/chat';
import { useMemo } from 'react';
import overlays from '../kit/overlays.module.css';
import { useChat, useField, useServices } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import { useManagement } from '../services/use-management.js';
import { DangerousButton, Section, ValuesDialog } from './form.js';
import { KeyDialog } from './key-dialog.js';
import styles from './managing.module.css';
import { PersonData } from './person-data.js';

/** Log-in, privacy, and deactivation of the account. */
export function Account() {
  return (
    <>
      <LogIn />
      <Privacy />
      <ApiKey />
      <OwnData />
      <Deactivation />
    </>
  );
}

function LogIn() {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { baseUrl } = useServices();
  const management = useManagement();
  const hasPassword = useField('realm_password_auth_enabled') === true;
  const email = useMemo<SettingsSource>(
    () => ({
      key: 'account',
      read: () => state.fields.get('delivery_email'),
      save: (changes) => management.api.patch('/settings', changes),
      mayEdit: () => management.rights.isAdmin || state.fields.get('realm_email_changes_disabled') !== true,
    }),
    [management, state],
  );
  return (
    <Section
      title={i18n._('Log-in')}
      source={email}
      settings={[
        {
          name: 'email',
          label: i18n._('Email address'),
          kind: 'text',
          type: 'email',
          autoComplete: 'email',
          hint: i18n._('A new address takes effect once you open the link that is sent to it.'),
        },
      ]}
    >
      <div className={styles.rowButtons}>
        {hasPassword && (
          <button
            type="button"
            className={overlays.button}
            aria-haspopup="dialog"
            onClick={({ currentTarget }) => openOverlay(currentTarget, async () => <PasswordDialog />)}
          >
            {i18n._('Change password')}
          </button>
        )}
        <a
          className={overlays.button}
          href={`${baseUrl}accounts/second-factor/`}
          title={i18n._('Two-factor authentication')}
        >
          {i18n._('Second factors')}
        </a>
        <a className={overlays.button} href="#settings/sessions">
          {i18n._('Sessions')}
        </a>
      </div>
    </Section>
  );
}

function Privacy() {
  const { i18n } = useLingui();
  const { personal } = useManagement();
  return (
    <Section
      title={i18n._('Privacy')}
      source={personal}
      settings={[
        {
          name: 'email_address_visibility',
          label: i18n._('Who can see my email address?'),
          kind: 'choice',
          options: [
            { value: 1, label: i18n._('Everyone') },
            { value: 2, label: i18n._('Members') },
            { value: 5, label: i18n._('Moderators') },
            { value: 3, label: i18n._('Administrators') },
            { value: 4, label: i18n._('Nobody') },
          ],
        },
        { name: 'presence_enabled', label: i18n._('Show others when I am active'), kind: 'switch' },
        { name: 'send_read_receipts', label: i18n._('Show others what I have read'), kind: 'switch' },
        {
          name: 'send_private_typing_notifications',
          label: i18n._('Show others when I type in direct messages'),
          kind: 'switch',
        },
        {
          name: 'send_stream_typing_notifications',
          label: i18n._('Show others when I type in channels'),
          kind: 'switch',
        },
        {
          name: 'allow_private_data_export',
          label: i18n._('Let administrators export my private data'),
          kind: 'switch',
        },
      ]}
    />
  );
}

function ApiKey() {
  const { i18n } = useLingui();
  return (
    <section className={styles.section}>
      <h3>{i18n._('API key')}</h3>
      <p className={styles.hint}>{i18n._('Programs and phones act in your name with it. Keep it secret.')}</p>
      <button
        type="button"
        className={overlays.button}
        aria-haspopup="dialog"
        onClick={({ currentTarget }) => openOverlay(currentTarget, async () => <OwnKeyDialog />)}
      >
        {i18n._('Show or replace API key')}
      </button>
    </section>
  );
}

function OwnData() {
  const { state } = useChat();
  return <PersonData userId={state.selfId} />;
}

function Deactivation() {
  const { i18n } = useLingui();
  const { api } = useManagement();
  return (
    <section className={styles.section}>
      <h3>{i18n._('Deactivate account')}</h3>
      <DangerousButton
        title={i18n._('Deactivate your account?')}
        action={i18n._('Deactivate')}
        text={i18n._(
          'You are logged out immediately, and your bots are deactivated. Only an administrator can reactivate the account.',
        )}
        onConfirm={() => api.delete('/users/me', {})}
      >
        {i18n._('Deactivate account')}
      </DangerousButton>
    </section>
  );
}

function PasswordDialog() {
  const { i18n } = useLingui();
  const { api } = useManagement();
  const min = useField('password_min_length') ?? 8;
  return (
    <ValuesDialog
      title={i18n._('Change password')}
      action={i18n._('Save')}
      settings={[
        {
          name: 'old_password',
          label: i18n._('Present password'),
          kind: 'text',
          type: 'password',
          autoComplete: 'current-password',
        },
        {
          name: 'new_password',
          label: i18n._('New password'),
          kind: 'text',
          type: 'password',
          autoComplete: 'new-password',
          hint: i18n._('At least {min} characters', { min }),
        },
      ]}
      onSubmit={(values) => api.patch('/settings', values)}
    />
  );
}

function OwnKeyDialog() {
  const { state } = useChat();
  const { api } = useManagement();
  return (
    <KeyDialog
      asksPassword
      read={async (password) => {
        const username = state.fields.peek('delivery_email') ?? '';
        return (await api.post('/fetch_api_key', { username, password })).api_key;
      }}
      replace={async () => (await api.post('/users/me/api_key/regenerate', {})).api_key}
    />
  );
}
