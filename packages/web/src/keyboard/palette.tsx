import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { type Chat, narrowOf, rankOf } from '@parley/chat';
import { CheckCheck, Hash, Keyboard, MessageSquare, Send, Settings, User } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { Dialog } from '../kit/dialog.js';
import { useListbox } from '../kit/listbox.js';
import { useOverlay } from '../kit/overlay.js';
import { type SettingsArea, sectionsOf } from '../managing/sections.js';
import { useComputed, useServices } from '../services/context.js';
import { openOverlay } from '../services/overlay.js';
import { builtInViews, ownViews } from '../sidebar/views.js';
import { openDirect, openHelp, type PageAction } from './commands.js';
import styles from './keyboard.module.css';

const MAX_ENTRIES = 12;

interface Entry {
  /** Place to go to, or the name of an action. */
  readonly address: string;
  /** Action instead of a place. */
  readonly run?: () => void;
  readonly name: string;
  readonly detail: string;
  readonly icon: ReactNode;
}

interface Props {
  /** Button that opened the palette, and from which its actions open dialogs. */
  readonly anchor: HTMLElement;
  /** Actions of the page around it. */
  readonly pageActions: readonly PageAction[];
}

const openReadAll = (anchor: HTMLElement) =>
  openOverlay(anchor, async () => {
    const { ReadAllDialog } = await import('../inbox/read-all-dialog.js');
    return <ReadAllDialog />;
  });

/** Field that goes to any view, conversation, channel, person, page of settings or action by a part of its name. */
export function Palette({ anchor, pageActions }: Props) {
  const { i18n } = useLingui();
  const { chat, navigation } = useServices();
  const { close } = useOverlay();
  const [query, setQuery] = useState('');
  const views = useComputed(
    () =>
      [...builtInViews(i18n), ...ownViews(chat.field('navigation_views'))].map(
        ({ href, icon: Icon, label }): Entry => ({ address: href, name: label, detail: '', icon: <Icon size={16} /> }),
      ),
    [chat, i18n],
  );
  const places = useComputed(() => placesOf(chat), [chat]);
  const managing = useComputed(() => managingOf(chat, i18n), [chat, i18n]);
  const actions = useMemo((): readonly Entry[] => {
    const all: readonly PageAction[] = [
      { name: i18n._('New direct message'), icon: Send, run: () => openDirect(anchor) },
      { name: i18n._('Keyboard shortcuts'), icon: Keyboard, run: () => openHelp(anchor) },
      { name: i18n._('Mark all as read'), icon: CheckCheck, run: () => openReadAll(anchor) },
      ...pageActions,
    ];
    return all.map(({ name, icon: Icon, run }) => {
      return { address: name, name, detail: i18n._('Action'), icon: <Icon size={16} aria-hidden />, run };
    });
  }, [i18n, anchor, pageActions]);
  const found = useMemo(
    () => ranked([...views, ...places, ...managing, ...actions], query),
    [views, places, managing, actions, query],
  );
  const { fieldProps, onKeyDown, list } = useListbox({
    label: i18n._('Results'),
    query,
    options: found,
    keyOf: ({ address }) => address,
    draw: ({ icon, name, detail }) => (
      <>
        {icon}
        <span className={styles.name}>{name}</span>
        <span className={styles.detail}>{detail}</span>
      </>
    ),
    onPick: ({ address, run }) => {
      close();
      if (run) run();
      else navigation.navigate(address);
    },
  });
  return (
    <Dialog title={i18n._('Go to…')}>
      <div className={styles.content}>
        <input
          {...fieldProps}
          role="combobox"
          className={styles.field}
          aria-label={i18n._('Name of a conversation, person or view')}
          aria-expanded={found.length > 0}
          autoComplete="off"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {list}
      </div>
    </Dialog>
  );
}

/** Recent conversations, then channels and people. */
function placesOf(chat: Chat): readonly Entry[] {
  const addressOf = (narrow: ReturnType<typeof narrowOf>) => chat.formatAddress({ view: 'narrow', narrow, near: null });
  const channelName = (id: number) => chat.sidebar.channel(id).value?.name ?? '';
  const personName = (id: number) => chat.people.person(id).value.name;
  const recent = chat.conversations.recent.value.flatMap(({ destination }): Entry[] => {
    if (destination.kind === 'direct' && destination.userIds.length < 2) return [];
    const isTopic = destination.kind === 'channel';
    return [
      {
        address: addressOf(narrowOf(destination)),
        name: isTopic ? destination.topic : destination.userIds.map(personName).join(', '),
        detail: isTopic ? `#${channelName(destination.channelId)}` : '',
        icon: <MessageSquare size={16} aria-hidden />,
      },
    ];
  });
  const channels = chat.sidebar.channelIds.value.map(
    (id): Entry => ({
      address: addressOf([{ operator: 'channel', operand: id }]),
      name: channelName(id),
      detail: '',
      icon: <Hash size={16} aria-hidden />,
    }),
  );
  const people = chat.people.withBots(chat.people.byPresence.value).map(
    (id): Entry => ({
      address: addressOf(narrowOf({ kind: 'direct', userIds: id === chat.state.selfId ? [] : [id] })),
      name: chat.state.people.peek(id)?.user.full_name ?? '',
      detail: '',
      icon: <User size={16} aria-hidden />,
    }),
  );
  return [...recent, ...channels, ...people];
}

/** Pages that manage things. */
function managingOf(chat: Chat, i18n: I18n): readonly Entry[] {
  const isGuest = chat.state.fields.get('is_guest') === true;
  const isAdmin = chat.state.fields.get('is_admin') === true;
  const entry = (address: string, name: string, detail: string): Entry => {
    return { address, name, detail, icon: <Settings size={16} aria-hidden /> };
  };
  const sections = (area: SettingsArea, detail: string) =>
    sectionsOf(area, i18n, isAdmin).map(({ key, title }) => entry(`#${area}/${key}`, title, detail));
  return [
    ...sections('settings', i18n._('Settings')),
    entry('#channels/all', i18n._('All channels'), i18n._('Channels')),
    entry('#channels/new', i18n._('Create channel'), i18n._('Channels')),
    ...(isGuest
      ? []
      : [entry('#groups/all', i18n._('Groups'), ''), ...sections('organization', i18n._('Organization settings'))]),
  ];
}

function ranked(entries: readonly Entry[], query: string): readonly Entry[] {
  if (query.trim() === '') return entries.slice(0, MAX_ENTRIES);
  return entries
    .flatMap((entry) => {
      const rank = rankOf(query, entry.name);
      return rank === null ? [] : [{ entry, rank }];
    })
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_ENTRIES)
    .map(({ entry }) => entry);
}
