import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { ChatState, PersonState, SettingsSource } from '@parley/chat';
import type { ParleyError } from '@parley/client';
import { Copy, Pencil, Plus, RotateCcw, Send, Trash2, UserX } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { Dialog, FormDialog } from '../kit/dialog.js';
import { IconButton } from '../kit/icon-button.js';
import { useOverlay } from '../kit/overlay.js';
import overlays from '../kit/overlays.module.css';
import { useChat, useComputed, useField, useServices } from '../services/context.js';
import { reportFailure, useRefusals } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import { useManagement } from '../services/use-management.js';
import type { Option, Setting } from './fields.js';
import { askFirst, Fields, Section, useValues, type Values, ValuesDialog } from './form.js';
import styles from './managing.module.css';
import { MemberList } from './member-list.js';
import { Line, Loading, SayingButton } from './page-parts.js';
import { browserOf, timeOf, useFetched } from './personal-lists.js';
import { ProfileFields } from './profile.js';

const ROLE = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 };

const rolesOf = (i18n: I18n): readonly (Option & { readonly value: number })[] => [
  { value: ROLE.owner, label: i18n._('Owner') },
  { value: ROLE.administrator, label: i18n._('Administrator') },
  { value: ROLE.moderator, label: i18n._('Moderator') },
  { value: ROLE.member, label: i18n._('Member') },
  { value: ROLE.guest, label: i18n._('Guest') },
];

const idsOf = (state: ChatState, list: PersonState['list']): readonly number[] =>
  state.people
    .values()
    .filter((person) => person.list === list && !person.user.is_bot)
    .map(({ user }) => user.user_id);

/** All people in the organization, and those with deactivated accounts. */
export function Users({ part }: { readonly part: string | undefined }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api, rights } = useManagement();
  const isAdmin = useComputed(() => rights.isAdmin, [rights]);
  const [showsActive, setShowsActive] = useState(part !== 'deactivated');
  const [role, setRole] = useState(0);
  const roles = useMemo(() => rolesOf(i18n), [i18n]);
  const ids = useComputed(
    () => idsOf(state, showsActive ? 'realm_users' : 'realm_non_active_users'),
    [state, showsActive],
  );
  const shown = useMemo(
    () => (role === 0 ? ids : ids.filter((id) => state.people.peek(id)?.user.role === role)),
    [ids, role, state],
  );
  return (
    <>
      <div className={styles.search}>
        <select
          className={styles.select}
          aria-label={i18n._('Accounts')}
          value={showsActive ? 'active' : 'deactivated'}
          onChange={(event) => setShowsActive(event.target.value === 'active')}
        >
          <option value="active">{i18n._('Active')}</option>
          <option value="deactivated">{i18n._('Deactivated')}</option>
        </select>
        <select
          className={styles.select}
          aria-label={i18n._('Role')}
          value={role}
          onChange={(event) => setRole(Number(event.target.value))}
        >
          <option value={0}>{i18n._('All roles')}</option>
          {roles.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <MemberList userIds={shown} label={i18n._('People')} detail={(id) => <UserDetail userId={id} roles={roles} />}>
        {(id, name) =>
          isAdmin &&
          (showsActive ? (
            <>
              <IconButton
                icon={Pencil}
                label={i18n._('Manage {name}', { name })}
                opens="dialog"
                onClick={({ currentTarget }) => openOverlay(currentTarget, async () => <UserDialog userId={id} />)}
              />
              <DeactivateButton userId={id} name={name} />
            </>
          ) : (
            <IconButton
              icon={RotateCcw}
              label={i18n._('Reactivate {name}', { name })}
              onClick={() => api.post('/users/{user_id}/reactivate', { user_id: id }).catch(reportFailure)}
            />
          ))
        }
      </MemberList>
    </>
  );
}

function DeactivateButton({ userId, name }: { readonly userId: number; readonly name: string }) {
  const { i18n } = useLingui();
  const { api, rights } = useManagement();
  const may = useComputed(() => rights.administers(userId), [rights, userId]);
  if (!may) return null;
  return (
    <IconButton
      icon={UserX}
      label={i18n._('Deactivate {name}', { name })}
      opens="dialog"
      onClick={({ currentTarget }) =>
        askFirst(currentTarget, {
          title: i18n._('Deactivate {name}?', { name }),
          action: i18n._('Deactivate'),
          text: i18n._('They and their bots are logged out immediately. Their messages stay.'),
          onConfirm: () => api.delete('/users/{user_id}', { user_id: userId }),
        })
      }
    />
  );
}

function UserDetail({ userId, roles }: { readonly userId: number; readonly roles: readonly Option[] }) {
  const { state } = useChat();
  const user = useComputed(() => state.people.get(userId)?.user, [state, userId]);
  if (!user) return null;
  return (
    <>{[roles.find(({ value }) => value === user.role)?.label, user.delivery_email].filter(Boolean).join(' · ')}</>
  );
}

/** Name, role and profile of another person. */
function UserDialog({ userId }: { readonly userId: number }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const management = useManagement();
  const name = useComputed(() => state.people.get(userId)?.user.full_name ?? '', [state, userId]);
  const isOwner = useComputed(() => management.rights.isOwner, [management]);
  const source = useMemo<SettingsSource>(
    () => ({
      key: `user ${userId}`,
      read: (setting) => state.people.get(userId)?.user[setting as 'full_name'],
      save: (changes) => management.api.patch('/users/{user_id}', { user_id: userId, ...changes }),
      mayEdit: (setting) => (setting === 'role' ? management.rights.administers(userId) : management.rights.isAdmin),
    }),
    [management, state, userId],
  );
  const { anchor } = useOverlay();
  const mayLogOut = useComputed(
    () => userId !== state.selfId && management.rights.administers(userId),
    [management, state, userId],
  );
  const former = useComputed(() => state.people.get(userId)?.user.role, [state, userId]);
  const roles = rolesOf(i18n).filter(({ value }) => {
    // Guests can only become members first.
    if (former === ROLE.guest) return value > ROLE.administrator;
    return isOwner || former === ROLE.owner || value !== ROLE.owner;
  });
  return (
    <Dialog title={name}>
      <div className={overlays.scroll}>
        <Section
          source={source}
          settings={[
            { name: 'full_name', label: i18n._('Name'), kind: 'text', maxLength: 100 },
            { name: 'role', label: i18n._('Role'), kind: 'choice', options: roles },
          ]}
        />
        <ProfileFields userId={userId} />
        {mayLogOut && (
          <section className={styles.section}>
            <h3>{i18n._('Log-in')}</h3>
            <div className={styles.rowButtons}>
              <button
                type="button"
                className={styles.dangerous}
                onClick={() => openOverlay(anchor, async () => <LogOutDialog userId={userId} />)}
              >
                {i18n._('Log out everywhere')}
              </button>
              <button
                type="button"
                className={styles.dangerous}
                onClick={() =>
                  askFirst(anchor, {
                    title: i18n._('Remove all second factors of {name}?', { name }),
                    action: i18n._('Remove'),
                    text: i18n._('They can then log in with a password alone. They are notified by email.'),
                    onConfirm: () => management.api.delete('/users/{user_id}/second_factors', { user_id: userId }),
                  })
                }
              >
                {i18n._('Remove second factors')}
              </button>
            </div>
          </section>
        )}
      </div>
    </Dialog>
  );
}

/** Shows a person's sessions before logging them out. */
function LogOutDialog({ userId }: { readonly userId: number }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api } = useManagement();
  const fetch = useCallback(
    async () => (await api.get('/users/{user_id}/sessions', { user_id: userId })).sessions,
    [api, userId],
  );
  const [sessions] = useFetched(fetch);
  return (
    <ValuesDialog
      title={i18n._('Log out {name} everywhere?', { name: state.people.peek(userId)?.user.full_name ?? '' })}
      action={i18n._('Log out')}
      isDangerous
      settings={[
        { name: 'api_key', label: i18n._('Also on phones and in programs, by replacing the API key'), kind: 'switch' },
      ]}
      onSubmit={({ api_key }) =>
        api.delete('/users/{user_id}/sessions', { user_id: userId, api_key: api_key === true })
      }
    >
      {!sessions && <Loading />}
      {sessions?.length === 0 && <p>{i18n._('They are not logged in in any browser.')}</p>}
      <ul className={styles.rows} aria-label={i18n._('Sessions')}>
        {sessions?.map(({ id, user_agent, last_used_at }) => (
          <Line
            key={id}
            title={browserOf(user_agent)}
            detail={i18n._('Last used: {time}', { time: timeOf(last_used_at, i18n) })}
          />
        ))}
      </ul>
    </ValuesDialog>
  );
}

/** Open invitations by link and email. */
export function Invitations() {
  const { i18n } = useLingui();
  const { rights } = useManagement();
  const may = useComputed(
    () => ({
      email: rights.has('realm_can_invite_users_group'),
      link: rights.has('realm_create_multiuse_invite_group'),
    }),
    [rights],
  );
  const open = (anchor: HTMLElement, isLink: boolean) =>
    openOverlay(anchor, async () => <InviteDialog isLink={isLink} />);
  if (!may.email && !may.link) {
    return <p className={styles.empty}>{i18n._('You are not allowed to invite people.')}</p>;
  }
  return (
    <>
      <div className={styles.rowButtons}>
        {may.email && (
          <button
            type="button"
            className={overlays.primary}
            aria-haspopup="dialog"
            onClick={({ currentTarget }) => open(currentTarget, false)}
          >
            <Send size={16} aria-hidden /> {i18n._('Invite by email')}
          </button>
        )}
        {may.link && (
          <button
            type="button"
            className={overlays.button}
            aria-haspopup="dialog"
            onClick={({ currentTarget }) => open(currentTarget, true)}
          >
            <Plus size={16} aria-hidden /> {i18n._('Create link')}
          </button>
        )}
      </div>
      <InvitationList />
    </>
  );
}

function InvitationList() {
  const { i18n } = useLingui();
  const { chat } = useServices();
  const { api } = useManagement();
  const fetch = useCallback(async () => (await api.get('/invites', {})).invites, [api]);
  const [invites] = useFetched(fetch, 'invites');
  const roles = rolesOf(i18n);
  return (
    <>
      {!invites && <Loading />}
      {invites?.length === 0 && <p className={styles.empty}>{i18n._('There are no open invitations.')}</p>}
      <ul className={styles.rows} aria-label={i18n._('Invitations')}>
        {invites?.map((invite) => {
          const name = invite.is_multiuse ? i18n._('Link for several people') : (invite.email ?? '');
          const expiry =
            invite.expiry_date === null
              ? i18n._('never expires')
              : i18n._('expires {time}', {
                  time: i18n.date(new Date(invite.expiry_date * 1000), { dateStyle: 'medium', timeStyle: 'short' }),
                });
          const detail = [
            roles.find(({ value }) => value === invite.invited_as)?.label,
            chat.people.person(invite.invited_by_user_id).peek().name,
            expiry,
          ];
          const withdraw = () =>
            invite.is_multiuse
              ? api.delete('/invites/multiuse/{invite_id}', { invite_id: invite.id })
              : api.delete('/invites/{invite_id}', { invite_id: invite.id });
          return (
            <Line key={`${invite.is_multiuse} ${invite.id}`} title={name} detail={detail.filter(Boolean).join(' · ')}>
              {invite.link_url !== undefined && (
                <SayingButton
                  icon={Copy}
                  label={i18n._('Copy link')}
                  done={i18n._('Copied')}
                  onClick={() => navigator.clipboard.writeText(invite.link_url!)}
                />
              )}
              {!invite.is_multiuse && (
                <SayingButton
                  icon={Send}
                  label={i18n._('Send again to {name}', { name })}
                  done={i18n._('Sent')}
                  onClick={() => api.post('/invites/{invite_id}/resend', { invite_id: invite.id })}
                />
              )}
              <IconButton
                icon={Trash2}
                label={i18n._('Withdraw {name}', { name })}
                opens="dialog"
                onClick={({ currentTarget }) =>
                  askFirst(currentTarget, {
                    title: i18n._('Withdraw the invitation?'),
                    action: i18n._('Withdraw'),
                    text: i18n._('It can no longer be used to join.'),
                    onConfirm: withdraw,
                  })
                }
              />
            </Line>
          );
        })}
      </ul>
    </>
  );
}

const DAY_MINUTES = 24 * 60;

const STANDARD_INVITATION: Values = {
  invite_expires_in_minutes: 10 * DAY_MINUTES,
  invite_as: ROLE.member,
  include_realm_default_subscriptions: true,
  stream_ids: [],
  group_ids: [],
};

function useInvitationFields(isLink: boolean): readonly Setting[] {
  const { i18n } = useLingui();
  const { state } = useChat();
  const ownRole = state.people.peek(state.selfId)?.user.role ?? ROLE.member;
  const defaults = useField('realm_default_streams') ?? [];
  return [
    ...(isLink
      ? []
      : [
          {
            name: 'invitee_emails',
            label: i18n._('Email addresses'),
            kind: 'lines',
            hint: i18n._('One per line, or separated by commas'),
          } as const,
        ]),
    {
      name: 'invite_expires_in_minutes',
      label: i18n._('Expires'),
      kind: 'choice',
      options: [
        ...[1, 3, 10, 30].map((days) => ({
          value: days * DAY_MINUTES,
          label: i18n._('{count, plural, one {after # day} other {after # days}}', { count: days }),
        })),
        { value: null, label: i18n._('Never') },
      ],
    },
    {
      name: 'invite_as',
      label: i18n._('Role'),
      kind: 'choice',
      options: rolesOf(i18n).filter(({ value }) => value >= ownRole),
    },
    {
      name: 'include_realm_default_subscriptions',
      label: i18n._('Subscribe to the default channels'),
      kind: 'switch',
      ...(defaults.length === 0 && { hint: i18n._('There are none now.') }),
    },
    { name: 'stream_ids', label: i18n._('Further channels'), kind: 'channels' },
    { name: 'group_ids', label: i18n._('Groups'), kind: 'groups' },
  ];
}

function InviteDialog({ isLink }: { readonly isLink: boolean }) {
  const { i18n } = useLingui();
  const { api } = useManagement();
  const settings = useInvitationFields(isLink);
  const { values, change, forget } = useValues(STANDARD_INVITATION, isLink ? 'invitation link' : 'invitations');
  const [refused, setRefused] = useState<readonly RefusedAddress[]>([]);
  const textOf = useRefusals(refused.length > 0);
  const submit = async () => {
    const { invitee_emails, ...others } = values;
    const params = others as { stream_ids: readonly number[] };
    if (isLink) return api.post('/invites/multiuse', params).then(forget);
    setRefused([]);
    try {
      await api.post('/invites', { ...params, invitee_emails: String(invitee_emails ?? '') });
      forget();
    } catch (error) {
      const { details } = error as ParleyError;
      const addresses = (details?.errors ?? []) as readonly RefusedAddress[];
      setRefused(addresses);
      // The other addresses were invited.
      if (details?.sent_invitations === true) {
        change({ ...values, invitee_emails: addresses.map(([address]) => address).join('\n') });
      }
      throw error;
    }
  };
  return (
    <FormDialog
      title={isLink ? i18n._('Create invitation link') : i18n._('Invite people')}
      action={isLink ? i18n._('Create') : i18n._('Invite')}
      onSubmit={submit}
      onCancel={forget}
    >
      <Fields settings={settings} values={values} onChange={change} />
      {refused.length > 0 && (
        <ul className={styles.rows} aria-label={i18n._('Addresses that were not invited')}>
          {refused.map(([address, reason]) => (
            <Line key={address} title={address} detail={textOf?.(reason) ?? reason} />
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

/** Address with the server's reason (organization §9.3). */
type RefusedAddress = readonly [address: string, reason: string, ...rest: unknown[]];
