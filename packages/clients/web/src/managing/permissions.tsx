import { useLingui } from '@lingui/react';
import type { Fields, SettingsSource } from '@parley/chat';
import { useMemo } from 'react';
import { useChat, useComputed, useField } from '../services/context.js';
import { useManagement } from '../services/use-management.js';
import type { Setting } from './fields.js';
import { Section } from './form.js';
import styles from './managing.module.css';
import { Domains } from './organization-lists.js';

/** Explains why settings are read-only. */
export function ReadOnlyNotice() {
  const { i18n } = useLingui();
  const { rights } = useManagement();
  const isAdmin = useComputed(() => rights.isAdmin, [rights]);
  const isOwner = useComputed(() => rights.isOwner, [rights]);
  if (isOwner) return null;
  return (
    <p className={styles.notice}>
      {isAdmin
        ? i18n._('Some of these settings can only be changed by owners.')
        : i18n._('Only administrators can change these settings.')}
    </p>
  );
}

type Definitions = NonNullable<Fields['server_supported_permission_settings']>['realm'];

const toggle = (name: string, label: string): Setting => ({ name, label, kind: 'switch' });

/** Makes settings for permissions, with the groups that the server allows. */
function usePermissionSetting(): (name: keyof Definitions, label: string) => Setting {
  const definitions = useField('server_supported_permission_settings')?.realm;
  return (name, label) => ({ name, label, kind: 'permission', definition: definitions?.[name] });
}

/** Groups with permissions, and limits on joining. */
export function OrganizationPermissions() {
  return (
    <>
      <ReadOnlyNotice />
      <JoiningPermissions />
      <MessagePermissions />
      <PeoplePermissions />
    </>
  );
}

function JoiningPermissions() {
  const { i18n } = useLingui();
  const { realm } = useManagement();
  const permission = usePermissionSetting();
  return (
    <Section
      title={i18n._('Joining')}
      source={realm}
      settings={[
        toggle('invite_required', i18n._('People need an invitation')),
        toggle('emails_restricted_to_domains', i18n._('Only addresses of the allowed domains')),
        toggle('disallow_disposable_email_addresses', i18n._('No disposable email addresses')),
        permission('can_invite_users_group', i18n._('Who can invite people by email?')),
        permission('create_multiuse_invite_group', i18n._('Who can create invitation links?')),
        {
          name: 'waiting_period_threshold',
          label: i18n._('Members become full members after'),
          kind: 'number',
          min: 0,
          unit: i18n._('days'),
        },
      ]}
    >
      <h4>{i18n._('Allowed domains')}</h4>
      <Domains />
    </Section>
  );
}

/** Channels, and messages there and in direct conversations. */
function MessagePermissions() {
  const { i18n } = useLingui();
  const { realm } = useManagement();
  const permission = usePermissionSetting();
  return (
    <>
      <Section
        title={i18n._('Channels')}
        source={realm}
        settings={[
          permission('can_create_public_channel_group', i18n._('Who can create public channels?')),
          permission('can_create_web_public_channel_group', i18n._('Who can create web-public channels?')),
          permission('can_create_private_channel_group', i18n._('Who can create private channels?')),
          permission('can_add_subscribers_group', i18n._('Who can add others to channels?')),
          permission('can_mention_many_users_group', i18n._('Who can mention everyone in large channels?')),
          permission('can_set_topics_policy_group', i18n._('Who can choose whether topics need names?')),
          permission('can_set_delete_message_policy_group', i18n._('Who can choose who deletes in a channel?')),
        ]}
      />
      <Section
        title={i18n._('Messages')}
        source={realm}
        settings={[
          permission('can_move_messages_between_topics_group', i18n._('Who can move messages to other topics?')),
          permission('can_move_messages_between_channels_group', i18n._('Who can move messages to other channels?')),
          permission('can_resolve_topics_group', i18n._('Who can resolve topics?')),
          permission('can_delete_any_message_group', i18n._('Who can delete any message?')),
          permission('can_delete_own_message_group', i18n._('Who can delete their own messages?')),
        ]}
      />
      <Section
        title={i18n._('Direct messages')}
        source={realm}
        settings={[
          permission('direct_message_permission_group', i18n._('Who can authorize direct conversations?')),
          permission('direct_message_initiator_group', i18n._('Who can start direct conversations?')),
        ]}
      />
    </>
  );
}

function PeoplePermissions() {
  const { i18n } = useLingui();
  const { realm } = useManagement();
  const permission = usePermissionSetting();
  return (
    <>
      <Section
        title={i18n._('People and groups')}
        source={realm}
        settings={[
          permission('can_access_all_users_group', i18n._('Who can see everyone?')),
          permission('can_create_groups', i18n._('Who can create groups?')),
          permission('can_manage_all_groups', i18n._('Who can change all groups?')),
          toggle('name_changes_disabled', i18n._('People cannot change their names')),
          toggle('require_unique_names', i18n._('Names must be unique')),
          toggle('email_changes_disabled', i18n._('People cannot change their email addresses')),
          toggle('avatar_changes_disabled', i18n._('People cannot change their pictures')),
        ]}
      />
      <Section
        title={i18n._('Bots and emoji')}
        source={realm}
        settings={[
          permission('can_create_bots_group', i18n._('Who can create any bot?')),
          permission('can_create_write_only_bots_group', i18n._('Who can create bots that only write?')),
          permission('can_add_custom_emoji_group', i18n._('Who can add emoji?')),
        ]}
      />
    </>
  );
}

/** Log-in methods and second factors. */
export function Authentication() {
  const { i18n } = useLingui();
  const { state } = useChat();
  const management = useManagement();
  const methods = Object.entries(useField('realm_authentication_methods') ?? {});
  const source = useMemo<SettingsSource>(() => {
    const shown = () => state.fields.peek('realm_authentication_methods');
    // All methods are sent together, so a change waits for the previous one. Its event may follow the response.
    let last: Promise<unknown> = Promise.resolve();
    let before = shown();
    let sent: Readonly<Record<string, unknown>> | null = null;
    const send = async (changes: Readonly<Record<string, unknown>>) => {
      const present = Object.entries(shown() ?? {}).map(([name, { enabled }]) => [name, enabled] as const);
      const next = { ...(sent && shown() === before ? sent : Object.fromEntries(present)), ...changes };
      await management.realm.save({ authentication_methods: next });
      before = shown();
      sent = next;
    };
    return {
      key: 'authentication',
      read: (name) => state.fields.get('realm_authentication_methods')?.[name]?.enabled,
      save: (changes) => {
        const turn = last.then(() => send(changes));
        // The caller of `save` gets the error; the next change is sent anyway.
        last = turn.catch(() => {});
        return turn;
      },
      mayEdit: (name) =>
        management.rights.isOwner && state.fields.get('realm_authentication_methods')?.[name]?.available !== false,
    };
  }, [management, state]);
  const secondFactors = useMemo<SettingsSource>(() => {
    const { realm } = management;
    // The server omits the value if no one is required to use a second factor.
    return { ...realm, read: (name) => realm.read(name) ?? 'nobody' };
  }, [management]);
  return (
    <>
      <ReadOnlyNotice />
      <Section
        title={i18n._('Ways to log in')}
        source={source}
        settings={methods.map(([name, { available }]) => ({
          name,
          label: name === 'Email' ? i18n._('Email address and password') : name,
          kind: 'switch',
          ...(!available && { hint: i18n._('Not configured on this server') }),
        }))}
      />
      <Section
        title={i18n._('Second factors')}
        source={secondFactors}
        settings={[
          {
            name: 'second_factor_required_for',
            label: i18n._('Required for'),
            kind: 'choice',
            options: [
              { value: 'nobody', label: i18n._('Nobody') },
              { value: 'owners', label: i18n._('Owners') },
              { value: 'administrators', label: i18n._('Administrators') },
              { value: 'moderators', label: i18n._('Moderators') },
              { value: 'members', label: i18n._('Members') },
              { value: 'everyone', label: i18n._('Everyone') },
            ],
          },
        ]}
      />
    </>
  );
}
