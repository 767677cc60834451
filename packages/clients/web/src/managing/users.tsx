import { useLingui } from '@lingui/react';
import type { ChatState, PersonState, SettingsSource } from '@parley/chat';
import { useCallback, useMemo, useState } from 'react';
import { Copy, Eraser, Pencil, Plus, RotateCcw, Send, Trash2, UserX } from '../icons/icons.js';
import { Dialog } from '../kit/dialog.js';
import { IconButton } from '../kit/icon-button.js';
import { Loading } from '../kit/loading.js';
import { useOverlay } from '../kit/overlay.js';
import overlays from '../kit/overlays.module.css';
import { useChat, useComputed, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import { useManagement } from '../services/use-management.js';
import { EraseDialog } from './erase-person.js';
import { askFirst, Section, ValuesDialog } from './form.js';
import { expiryOf, InviteDialog } from './invite-dialog.js';
import styles from './managing.module.css';
import { Line, SayingButton } from './page-parts.js';
import { PeopleTable } from './people-table.js';
import { PersonData } from './person-data.js';
import { browserOf, timeOf, useFetched } from './personal-lists.js';
import { ProfileFields } from './profile.js';
import { ROLE, rolesOf } from './roles.js';

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
  const isOwner = useComputed(() => rights.isOwner, [rights]);
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
      <PeopleTable userIds={shown} isSelectable={isAdmin && showsActive}>
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
            <>
              <IconButton
                icon={RotateCcw}
                label={i18n._('Reactivate {name}', { name })}
                onClick={() => api.post('/users/{user_id}/reactivate', { user_id: id }).catch(reportFailure)}
              />
              {isOwner && (
                <IconButton
                  icon={Eraser}
                  label={i18n._('Erase {name}', { name })}
                  opens="dialog"
                  onClick={({ currentTarget }) => openOverlay(currentTarget, async () => <EraseDialog userId={id} />)}
                />
              )}
            </>
          ))
        }
      </PeopleTable>
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
        {isOwner && <PersonData userId={userId} anchor={anchor} />}
        {isOwner && (
          <button
            type="button"
            className={styles.dangerous}
            onClick={() => openOverlay(anchor, async () => <EraseDialog userId={userId} />)}
          >
            {i18n._('Erase {name}', { name })}
          </button>
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
          const detail = [
            roles.find(({ value }) => value === invite.invited_as)?.label,
            chat.people.person(invite.invited_by_user_id).peek().name,
            expiryOf(invite, i18n),
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
