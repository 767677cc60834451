import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { ChatState } from '@parley/chat';
import { KeyRound, Pencil, Plus, RotateCcw, UserX } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { useChat, useComputed, useNames } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import { useManagement } from '../services/use-management.js';
import type { Setting } from './fields.js';
import { askFirst, EditDialog, type Values, ValuesDialog } from './form.js';
import { KeyDialog } from './key-dialog.js';
import styles from './managing.module.css';
import { MemberList } from './member-list.js';

/** Bot types (users §1.1). */
export const BOT_TYPE = { generic: 1, incoming: 2, outgoing: 3 };

/** The user's bots. */
export function OwnBots() {
  const { state } = useChat();
  const ids = useComputed(() => botIds(state, state.selfId), [state]);
  return <Bots userIds={ids} />;
}

/** All bots of the organization, for administrators. */
export function AllBots() {
  const { state } = useChat();
  const ids = useComputed(() => botIds(state, null), [state]);
  return <Bots userIds={ids} showsOwner />;
}

const botIds = (state: ChatState, ownerId: number | null): readonly number[] =>
  state.people
    .values()
    .filter(
      ({ user, list }) =>
        user.is_bot && list !== 'cross_realm_bots' && (ownerId === null || user.bot_owner_id === ownerId),
    )
    .map(({ user }) => user.user_id);

function Bots({ userIds, showsOwner = false }: { readonly userIds: readonly number[]; readonly showsOwner?: boolean }) {
  const { i18n } = useLingui();
  const { rights } = useManagement();
  const mayCreate = useComputed(
    () => rights.has('realm_can_create_bots_group') || rights.has('realm_can_create_write_only_bots_group'),
    [rights],
  );
  return (
    <>
      {mayCreate ? (
        <button
          type="button"
          className={styles.add}
          aria-haspopup="dialog"
          onClick={({ currentTarget }) => openOverlay(currentTarget, async () => <CreateBotDialog />)}
        >
          <Plus size={16} aria-hidden /> {i18n._('Add bot')}
        </button>
      ) : (
        <p className={styles.notice}>{i18n._('You are not allowed to create bots.')}</p>
      )}
      {userIds.length === 0 ? (
        <p className={styles.empty}>{i18n._('There are no bots. Programs use them to send messages.')}</p>
      ) : (
        <MemberList
          userIds={userIds}
          label={i18n._('Bots')}
          isOfBots
          detail={(id) => <Detail userId={id} showsOwner={showsOwner} />}
        >
          {(id) => <BotButtons userId={id} />}
        </MemberList>
      )}
    </>
  );
}

function Detail({ userId, showsOwner }: { readonly userId: number; readonly showsOwner: boolean }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const person = useComputed(() => state.people.get(userId), [state, userId]);
  const [owner] = useNames(showsOwner && person?.user.bot_owner_id ? [person.user.bot_owner_id] : []);
  if (!person) return null;
  const parts = [
    person.list === 'realm_non_active_users' && i18n._('deactivated'),
    botTypes(i18n).find(({ value }) => value === person.user.bot_type)?.label,
    owner,
    person.user.delivery_email ?? person.user.email,
  ];
  return <>{parts.filter(Boolean).join(' · ')}</>;
}

const botTypes = (i18n: I18n) => [
  { value: BOT_TYPE.generic, label: i18n._('Reads and writes') },
  { value: BOT_TYPE.incoming, label: i18n._('Incoming webhook') },
  { value: BOT_TYPE.outgoing, label: i18n._('Outgoing webhook') },
];

function BotButtons({ userId }: { readonly userId: number }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api, rights } = useManagement();
  const person = useComputed(() => state.people.get(userId), [state, userId]);
  const may = useComputed(() => rights.bot(userId), [rights, userId]);
  if (!person || !may.administer) return null;
  const name = person.user.full_name;
  if (person.list === 'realm_non_active_users') {
    if (!may.reactivate) return null;
    return (
      <IconButton
        icon={RotateCcw}
        label={i18n._('Reactivate {name}', { name })}
        onClick={() => api.post('/users/{user_id}/reactivate', { user_id: userId }).catch(reportFailure)}
      />
    );
  }
  return (
    <>
      <IconButton
        icon={KeyRound}
        label={i18n._('API key of {name}', { name })}
        opens="dialog"
        onClick={({ currentTarget }) =>
          openOverlay(currentTarget, async () => (
            <KeyDialog
              read={async () => (await api.get('/bots/{bot_id}/api_key', { bot_id: userId })).api_key}
              replace={async () => (await api.post('/bots/{bot_id}/api_key/regenerate', { bot_id: userId })).api_key}
            />
          ))
        }
      />
      <IconButton
        icon={Pencil}
        label={i18n._('Edit {name}', { name })}
        opens="dialog"
        onClick={({ currentTarget }) => openOverlay(currentTarget, async () => <EditBotDialog userId={userId} />)}
      />
      <IconButton
        icon={UserX}
        label={i18n._('Deactivate {name}', { name })}
        opens="dialog"
        onClick={({ currentTarget }) =>
          askFirst(currentTarget, {
            title: i18n._('Deactivate {name}?', { name }),
            action: i18n._('Deactivate'),
            text: i18n._('Its key no longer works. Its messages stay.'),
            onConfirm: () => api.delete('/bots/{bot_id}', { bot_id: userId }),
          })
        }
      />
    </>
  );
}

const nameField = (i18n: I18n): Setting => ({ name: 'full_name', label: i18n._('Name'), kind: 'text', maxLength: 100 });
const addressField = (i18n: I18n, name: string): Setting => ({
  name,
  label: i18n._('Address that gets the messages'),
  kind: 'text',
  type: 'url',
});

function CreateBotDialog() {
  const { i18n } = useLingui();
  const { api, rights } = useManagement();
  const isFull = rights.has('realm_can_create_bots_group');
  const types = botTypes(i18n).filter(({ value }) => isFull || value === BOT_TYPE.incoming);
  const settings = ({ bot_type }: Values): readonly Setting[] => [
    nameField(i18n),
    {
      name: 'short_name',
      label: i18n._('Name in its address'),
      kind: 'text',
      maxLength: 60,
      hint: i18n._('Letters, digits and hyphens'),
    },
    { name: 'bot_type', label: i18n._('Kind'), kind: 'choice', options: types },
    ...(bot_type === BOT_TYPE.outgoing ? [addressField(i18n, 'payload_url')] : []),
  ];
  return (
    <ValuesDialog
      title={i18n._('Add bot')}
      keptAs="new bot"
      action={i18n._('Create')}
      values={{ bot_type: types[0]!.value, full_name: '', short_name: '' }}
      settings={settings}
      onSubmit={(values) => api.post('/bots', values as { full_name: string; short_name: string })}
    />
  );
}

function EditBotDialog({ userId }: { readonly userId: number }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api } = useManagement();
  const { user } = state.people.peek(userId)!;
  const service = state.fields.peek('realm_bots')?.find((bot) => bot.user_id === userId)?.services[0];
  return (
    <EditDialog
      title={i18n._('Edit bot')}
      keptAs={`bot ${userId}`}
      values={{ full_name: user.full_name, service_payload_url: service?.base_url ?? '' }}
      settings={[
        nameField(i18n),
        ...(user.bot_type === BOT_TYPE.outgoing ? [addressField(i18n, 'service_payload_url')] : []),
      ]}
      onSubmit={(changes) => api.patch('/bots/{bot_id}', { bot_id: userId, ...changes })}
    />
  );
}
