import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { type Chat, destinationOf, RESOLVED_PREFIX } from '@parley/chat';
import { useEffect, useMemo, useState } from 'react';
import { topicMuting } from '../channels/topic-muting.js';
import { type Entry, Finder, usePlaces } from '../conversation/finder.js';
import { onlyChannel } from '../editor/destination-heading.js';
import type { Icon } from '../icons/icon.js';
import {
  BellOff,
  BellRing,
  Check,
  CheckCheck,
  Keyboard,
  LogOut,
  MailCheck,
  MoveRight,
  Search,
  Send,
  Settings,
  Smile,
  UserPlus,
} from '../icons/icons.js';
import { type SettingsArea, sectionsOf } from '../managing/sections.js';
import type { SettingPlace } from '../managing/settings-search.js';
import { type Services, useComputed, useField, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { useLoaded } from '../services/loading.js';
import { openOverlay } from '../services/overlay.js';
import { useThemeToggle } from '../services/theme.js';
import { useManagement } from '../services/use-management.js';
import { useUnopenedTopics } from '../services/use-unopened-topics.js';
import { builtInViews, ownViews } from '../sidebar/views.js';

interface Props {
  /** Button that opened the palette; its actions anchor dialogs there. */
  readonly anchor: HTMLElement;
  /** Missing if the host application manages log-ins. */
  readonly onLogOut: (() => void) | undefined;
  openHelp(anchor: HTMLElement): void;
  openDirect(anchor: HTMLElement): void;
}

interface Action {
  readonly name: string;
  /** Other words for it. */
  readonly words?: string;
  readonly icon: Icon;
  run(): void;
}

const openReadAll = (anchor: HTMLElement) =>
  openOverlay(anchor, async () => {
    const { ReadAllDialog } = await import('../inbox/read-all-dialog.js');
    return <ReadAllDialog />;
  });

const openStatus = (anchor: HTMLElement) =>
  openOverlay(anchor, async () => {
    const { StatusDialog } = await import('../people/status-dialog.js');
    return <StatusDialog />;
  });

const INVITE_RIGHTS = ['realm_create_multiuse_invite_group', 'realm_can_invite_users_group'] as const;

/** Actions of the open topic or channel. Observed inside computations. */
function actionsHere({ chat, navigation }: Services, i18n: I18n, anchor: HTMLElement): readonly Action[] {
  const { address } = navigation.current();
  if (address?.view !== 'narrow') return [];
  const { narrow } = address;
  const place = destinationOf(narrow);
  const channelId = place?.kind === 'channel' ? place.channelId : onlyChannel(narrow);
  const channel = channelId === null ? null : chat.sidebar.channel(channelId).value;
  const run = (call: Promise<void>) => void call.catch(reportFailure);
  const markRead: Action = {
    name: i18n._('Mark all messages as read'),
    icon: MailCheck,
    run: () => run(chat.commands.markNarrowRead(narrow)),
  };
  if (place?.kind !== 'channel') {
    if (!channel) return place ? [markRead] : [];
    const settings = chat.formatAddress({
      view: 'other',
      path: ['channels', String(channel.id), channel.name, 'general'],
    });
    const mute: Action = {
      name: channel.isMuted ? i18n._('Unmute channel') : i18n._('Mute channel'),
      icon: BellOff,
      run: () => run(chat.commands.setChannelProperty(channel.id, 'is_muted', !channel.isMuted)),
    };
    return [
      markRead,
      ...(channel.isSubscribed ? [mute] : []),
      {
        name: i18n._('Channel settings'),
        words: i18n._('Leave, archive, rename'),
        icon: Settings,
        run: () => navigation.navigate(settings),
      },
    ];
  }
  const { topic } = place;
  const policy = chat.sidebar.policyOf(place.channelId, topic);
  const isResolved = topic.startsWith(RESOLVED_PREFIX);
  const muting = topicMuting(chat, place);
  const setting = (next: typeof policy) => () => run(chat.commands.setTopicPolicy(place, next));
  const move = chat.rights.canMoveIn(place.channelId);
  return [
    markRead,
    {
      name: policy === 'followed' ? i18n._('Unfollow topic') : i18n._('Follow topic'),
      icon: BellRing,
      run: setting(policy === 'followed' ? 'none' : 'followed'),
    },
    {
      name: muting.isMuted ? i18n._('Unmute topic') : i18n._('Mute topic'),
      icon: BellOff,
      run: setting(muting.next),
    },
    ...(chat.rights.canResolve(place.channelId, topic)
      ? [
          {
            name: isResolved ? i18n._('Mark topic as unresolved') : i18n._('Mark topic as resolved'),
            icon: Check,
            run: () => run(chat.commands.resolve(place, !isResolved)),
          },
        ]
      : []),
    ...(move.topic || move.channel
      ? [
          {
            name: i18n._('Move topic'),
            icon: MoveRight,
            run: () =>
              openOverlay(anchor, async () => {
                const { MoveDialog } = await import('../channels/move-dialog.js');
                return <MoveDialog place={place} messageId={null} />;
              }),
          },
        ]
      : []),
  ];
}

const loadSettings = () => import('../managing/managing-page.js').then(({ AllSettings }) => AllSettings);

const AREAS: readonly SettingsArea[] = ['settings', 'organization'];
/** Organization settings are not offered to guests. */
const AREAS_OF_GUESTS: readonly SettingsArea[] = ['settings'];

/** Event queues during which recent conversations were requested; events of the same queue keep them current. */
const requested = new WeakMap<Chat, string>();

/** Field that opens any view, conversation, channel, person or setting, or runs an action, by parts of names. */
export function Palette({ anchor, onLogOut, openHelp, openDirect }: Props) {
  const { i18n } = useLingui();
  const services = useServices();
  const { chat, navigation } = services;
  const views = useComputed(
    () =>
      [...builtInViews(i18n), ...ownViews(chat.field('navigation_views'))].map(
        ({ href, icon, label }): Entry => ({
          address: href,
          name: label,
          detail: '',
          ...(href === '#inbox' && { words: i18n._('Unread messages') }),
          icon,
        }),
      ),
    [chat, i18n],
  );
  const places = usePlaces();
  const managing = useComputed(() => managingOf(chat, i18n), [chat, i18n]);
  const themeToggle = useThemeToggle();
  const presentActions = useComputed(() => actionsHere(services, i18n, anchor), [services, i18n, anchor]);
  const management = useManagement();
  const invites = useComputed(() => INVITE_RIGHTS.some((right) => management.rights.has(right)), [management]);
  const actions: readonly Action[] = [
    ...presentActions,
    ...(invites
      ? [{ name: i18n._('Invite people'), icon: UserPlus, run: () => navigation.navigate('#organization/invitations') }]
      : []),
    { name: i18n._('Set status'), icon: Smile, run: () => openStatus(anchor) },
    { name: i18n._('New direct message'), icon: Send, run: () => openDirect(anchor) },
    { name: i18n._('Keyboard shortcuts'), icon: Keyboard, run: () => openHelp(anchor) },
    { name: i18n._('Mark all as read'), icon: CheckCheck, run: () => openReadAll(anchor) },
    { ...themeToggle, words: i18n._('Dark, light, night mode') },
    ...(onLogOut ? [{ name: i18n._('Log out'), words: i18n._('Logout, sign out'), icon: LogOut, run: onLogOut }] : []),
  ];
  const actionEntries = actions.map(({ name, words = '', icon, run }): Entry => {
    return { address: name, name, words, detail: i18n._('Action'), icon, run };
  });
  // Topics and settings that arrive while the user types would change the results.
  useUnopenedTopics(chat.sidebar.channelIds.peek());
  const AllSettings = useLoaded(loadSettings);
  const [settings, setSettings] = useState<readonly SettingPlace[]>([]);
  const settingEntries = useMemo(() => entriesOf(settings, chat), [settings, chat]);
  const isGuest = useField('is_guest') === true;
  const queueId = useField('queue_id');
  useEffect(() => {
    if (requested.get(chat) === queueId) return;
    requested.set(chat, queueId);
    // Known conversations are offered even if the request fails.
    chat.loadRecentTopics().catch(() => requested.delete(chat));
  }, [chat, queueId]);
  return (
    <>
      <Finder
        title={i18n._('Go to…')}
        label={i18n._('Name of a conversation, person or view')}
        entries={[...places, ...views, ...managing, ...actionEntries, ...settingEntries]}
        lastEntry={(query) => ({
          address: chat.formatAddress({
            view: 'narrow',
            narrow: [{ operator: 'search', operand: query }],
            near: null,
          }),
          name: i18n._('Search messages for “{query}”', { query }),
          detail: '',
          icon: Search,
        })}
        onPick={({ address, run }) => {
          if (run) run();
          else navigation.navigate(address);
        }}
      />
      {AllSettings && <AllSettings areas={isGuest ? AREAS_OF_GUESTS : AREAS} onRead={setSettings} />}
    </>
  );
}

const entriesOf = (settings: readonly SettingPlace[], chat: Chat): readonly Entry[] =>
  settings.map(({ path, label, section, words }) => ({
    address: chat.formatAddress({ view: 'other', path }),
    name: label,
    detail: section,
    words,
    icon: Settings,
  }));

/** Management pages. */
function managingOf(chat: Chat, i18n: I18n): readonly Entry[] {
  const isGuest = chat.state.fields.get('is_guest') === true;
  const rights = {
    isAdmin: chat.state.fields.get('is_admin') === true,
    isOwner: chat.state.fields.get('is_owner') === true,
  };
  const entry = (address: string, name: string, detail: string): Entry => {
    return { address, name, detail, icon: Settings };
  };
  const sections = (area: SettingsArea, detail: string) =>
    sectionsOf(area, i18n, rights).map(({ key, title }) => ({
      ...entry(`#${area}/${key}`, title, detail),
      ...(key === 'profile' && { words: i18n._('Picture, avatar') }),
    }));
  return [
    ...sections('settings', i18n._('Settings')),
    entry('#channels/all', i18n._('All channels'), i18n._('Channels')),
    { ...entry('#channels/new', i18n._('Create channel'), i18n._('Channels')), words: i18n._('New') },
    ...(isGuest
      ? []
      : [entry('#groups/all', i18n._('Groups'), ''), ...sections('organization', i18n._('Organization settings'))]),
  ];
}
