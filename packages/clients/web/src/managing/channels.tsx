import { useLingui } from '@lingui/react';
import { type Chat, type Privacy, rankOf } from '@parley/chat';
import { type FormEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { leaveChannel } from '../channels/channel-menu.js';
import { textOf } from '../content/tree.js';
import { ChannelIcon } from '../editor/destination-heading.js';
import { Check, Plus } from '../icons/icons.js';
import { FailureText } from '../kit/dialog.js';
import { fieldIn } from '../kit/overlay.js';
import overlays from '../kit/overlays.module.css';
import { RowList } from '../kit/row-list.js';
import { useChat, useComputed, useField, useFind, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import type { Refusal } from '../services/reasons.js';
import { useManagement } from '../services/use-management.js';
import { channelFields, channelPermissions, foldersOf, privacyOptions } from './channel-fields.js';
import type { Setting } from './fields.js';
import { Fields, useValues, type Values } from './form.js';
import styles from './managing.module.css';
import { Heading, SearchField, Tabs } from './page-parts.js';

const COLLATOR = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** All visible channels, with buttons to join and leave. */
export function BrowseChannels({ filter }: { readonly filter: string }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { rights } = useManagement();
  const [query, setQuery] = useState('');
  const wanted = useDeferredValue(query.trim());
  useFind(wanted);
  const mayCreate = useComputed(() => rights.mayCreate('public') || rights.mayCreate('private'), [rights]);
  const all = useComputed(
    () =>
      state.channels
        .values()
        .filter(({ channel, membership }) => {
          if (filter === 'archived') return channel.is_archived;
          if (channel.is_archived) return false;
          if (filter === 'subscribed') return membership === 'subscribed';
          return filter !== 'available' || membership !== 'subscribed';
        })
        .sort((a, b) => COLLATOR.compare(a.channel.name, b.channel.name)),
    [state, filter],
  );
  const found = useMemo(
    () =>
      all
        .filter(({ channel }) => wanted === '' || rankOf(wanted, channel.name) !== null)
        .map(({ channel }) => channel.stream_id),
    [all, wanted],
  );
  const hasArchived = useComputed(() => state.channels.values().some(({ channel }) => channel.is_archived), [state]);
  const tabs = [
    { key: 'all', label: i18n._('All') },
    { key: 'subscribed', label: i18n._('Subscribed') },
    { key: 'available', label: i18n._('Not subscribed') },
    ...(hasArchived ? [{ key: 'archived', label: i18n._('Archived') }] : []),
  ];
  const current = tabs.some(({ key }) => key === filter) ? filter : 'all';
  return (
    <div className={styles.page} data-filling>
      <Heading search={<SearchField label={i18n._('Search channels')} value={query} onChange={setQuery} />}>
        {mayCreate && (
          <a className={overlays.primary} href="#channels/new">
            <Plus size={16} aria-hidden /> {i18n._('Create channel')}
          </a>
        )}
      </Heading>
      <Tabs
        label={i18n._('Filter')}
        tabs={tabs.map(({ key, label }) => ({ href: `#channels/${key}`, label, isCurrent: key === current }))}
      />
      {wanted === '' && state.isPartial && (
        <p className={styles.hint}>{i18n._('Search for a channel that is not listed.')}</p>
      )}
      {found.length === 0 ? (
        <p className={styles.empty}>{i18n._('No channels found')}</p>
      ) : (
        <RowList keys={found} label={i18n._('Channels')} rowHeight={60}>
          {(id) => <ChannelLine channelId={id} />}
        </RowList>
      )}
    </div>
  );
}

function ChannelLine({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const channel = useComputed(() => chat.state.channels.get(channelId)?.channel, [chat, channelId]);
  const folder = useField('channel_folders')?.find(({ id }) => id === channel?.folder_id);
  if (!channel) return null;
  const people = i18n._('{count, plural, one {# person} other {# people}}', { count: channel.subscriber_count });
  return (
    <div className={styles.line}>
      <ChannelIcon channelId={channelId} size={18} />
      <a className={styles.lineMain} href={channelPlace(chat, channelId, 'general')}>
        <span className={styles.lineTitle}>{channel.name}</span>
        <span className={styles.lineDetail}>
          {[people, folder?.name, textOf(channel.rendered_description)].filter(Boolean).join(' · ')}
        </span>
      </a>
      <SubscribeButton channelId={channelId} />
    </div>
  );
}

/** Address of a channel management page. */
export const channelPlace = (chat: Chat, channelId: number, section: string): string =>
  chat.formatAddress({
    view: 'other',
    path: ['channels', String(channelId), chat.state.channels.peek(channelId)?.channel.name ?? '', section],
  });

/** Joins or leaves a channel. */
export function SubscribeButton({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  const management = useManagement();
  const { state } = useChat();
  const name = useComputed(() => state.channels.get(channelId)?.channel.name ?? '', [state, channelId]);
  const rights = useComputed(() => management.rights.channel(channelId), [management, channelId]);
  const [isWorking, setWorking] = useState(false);
  const run = (call: Promise<unknown>) => {
    setWorking(true);
    call.catch(reportFailure).finally(() => setWorking(false));
  };
  if (rights.unsubscribe) {
    return (
      <button
        type="button"
        className={overlays.button}
        disabled={isWorking}
        aria-label={i18n._('Subscribed to {channel}: unsubscribe', { channel: name })}
        onClick={({ currentTarget }) => run(leaveChannel(i18n, currentTarget, management, channelId))}
      >
        <Check size={16} aria-hidden /> <span className={styles.wide}>{i18n._('Subscribed')}</span>
      </button>
    );
  }
  if (!rights.subscribe) return null;
  return (
    <button
      type="button"
      className={overlays.primary}
      disabled={isWorking}
      aria-label={i18n._('Subscribe to {channel}', { channel: name })}
      onClick={() => run(management.subscribe(channelId))}
    >
      {i18n._('Subscribe')}
    </button>
  );
}

/** Form for a new channel. */
export function CreateChannel() {
  const { i18n } = useLingui();
  const { chat, navigation } = useServices();
  const management = useManagement();
  const privacies = useComputed(() => privacyOptions(i18n, management.rights, null), [i18n, management]);
  const folders = useComputed(() => foldersOf(chat.state), [chat]);
  const limits = { name: useField('max_stream_name_length'), description: useField('max_stream_description_length') };
  const announcements = useField('realm_new_stream_announcements_stream_id') ?? -1;
  const definitions = useField('server_supported_permission_settings')?.stream;
  const isOwner = useComputed(() => management.rights.isOwner, [management]);
  const standard = useNewChannel(privacies[0]?.value);
  const { values, change, forget } = useValues(standard, 'new channel');
  const { failure, isWorking, create } = useCreation(values, forget);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => fieldIn(form.current)?.focus(), []);
  const { basic, advanced } = channelFields(i18n, { limits, privacies, folders });
  const fields: readonly Setting[] = [
    ...basic,
    { name: 'subscribers', label: i18n._('People'), kind: 'people', hint: i18n._('You are always among them.') },
    ...(announcements >= 0 && !isPrivate(values)
      ? [{ name: 'announce', label: i18n._('Announce the new channel'), kind: 'switch' } as const]
      : []),
  ];
  return (
    <div className={styles.page}>
      <Heading title={i18n._('Create channel')} back={{ href: '#channels/all', label: i18n._('Channels') }} />
      {privacies.length === 0 ? (
        <p className={styles.empty}>{i18n._('You are not allowed to create channels.')}</p>
      ) : (
        <form ref={form} className={styles.section} onSubmit={create}>
          <Fields settings={fields} values={values} onChange={change} />
          <details className={styles.details}>
            <summary>{i18n._('Advanced settings and permissions')}</summary>
            <Fields
              settings={[
                ...advanced.filter(({ name }) => isOwner || name !== 'message_retention_days'),
                ...channelPermissions(i18n, definitions),
              ]}
              values={values}
              onChange={change}
            />
          </details>
          <FailureText failure={failure} />
          <div className={styles.rowButtons}>
            <button type="submit" className={overlays.primary} disabled={isWorking}>
              {i18n._('Create')}
            </button>
            <button
              type="button"
              className={overlays.button}
              onClick={() => {
                forget();
                navigation.navigate('#channels/all');
              }}
            >
              {i18n._('Cancel')}
            </button>
          </div>
        </form>
      )}
    </div>
  );
}

const isPrivate = ({ privacy }: Values): boolean => privacy === 'private' || privacy === 'protected';

/** Initial values of a new channel. */
function useNewChannel(privacy: unknown): Values {
  const { state } = useChat();
  const announcements = useField('realm_new_stream_announcements_stream_id') ?? -1;
  const definitions = useField('server_supported_permission_settings')?.stream;
  function groupNamed(name: string): unknown {
    const { groups, selfId } = state;
    if (name === 'channel_creator') return { direct_members: [selfId], direct_subgroups: [] };
    return [...groups.all().values()].find((group) => group.name === name)?.id;
  }
  return {
    name: '',
    description: '',
    privacy,
    subscribers: [],
    announce: announcements >= 0,
    folder_id: null,
    topics_policy: 'inherit',
    message_retention_days: 'realm_default',
    ...Object.fromEntries(
      Object.entries(definitions ?? {}).map(([name, { default_group_name: group }]) => [name, groupNamed(group)]),
    ),
  };
}

/** Creates a channel and opens it. */
function useCreation(values: Values, onCreated: () => void) {
  const { chat, navigation } = useServices();
  const management = useManagement();
  const [failure, setFailure] = useState<Refusal | null>(null);
  const [isWorking, setWorking] = useState(false);
  const create = async (event: FormEvent) => {
    event.preventDefault();
    setWorking(true);
    setFailure(null);
    const { subscribers, announce, ...settings } = values;
    try {
      const id = await management.createChannel({
        ...settings,
        privacy: values.privacy as Privacy,
        name: String(values.name).trim(),
        announce: announce === true && !isPrivate(values),
        subscribers: [...new Set([chat.state.selfId, ...(subscribers as number[])])],
      });
      onCreated();
      navigation.navigate(
        chat.formatAddress({ view: 'narrow', narrow: [{ operator: 'channel', operand: id }], near: null }),
      );
    } catch (error) {
      setFailure(error as Refusal);
      setWorking(false);
    }
  };
  return { failure, isWorking, create };
}
