import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { type Chat, type Destination, type MessageRow as Message, narrowOf, RESOLVED_PREFIX } from '@parley/chat';
import { Fragment, type ReactNode } from 'react';
import type { Icon } from '../icons/icon.js';
import {
  AlarmClock,
  Check,
  ChevronsDownUp,
  ChevronsUpDown,
  Copy,
  Eye,
  Flag,
  Forward,
  History,
  Link,
  MailOpen,
  MoveRight,
  Pencil,
  Quote,
  Reply,
  RotateCcw,
  SmilePlus,
  Star,
  Trash2,
} from '../icons/icons.js';
import { Emoji } from '../kit/emoji.js';
import { Menu, MenuItem, MenuLine, MenuRow } from '../kit/menu.js';
import { useOverlay } from '../kit/overlay.js';
import { type Services, useServices } from '../services/context.js';
import { reportDone, reportFailure } from '../services/failures.js';
import { copyLink } from '../services/location.js';
import { openOverlay } from '../services/overlay.js';

/** Message commands provided by the page. */
export interface MessageCommands {
  /** Opens a conversation to write there, optionally with an initial text; null without a field. */
  readonly write: ((to: Destination, text: string) => void) | null;
  /** Quotes a message in the field of its conversation; null without a field. */
  readonly quote: ((message: Message) => void) | null;
  /** Moves a failed message back into the field; null without a field. */
  readonly editFailed: ((message: Message) => void) | null;
  /** Marks a message and all later ones as unread. */
  readonly markUnread: (message: Message) => void;
}

/** Page context of message shortcuts. */
export interface KeyContext {
  readonly services: Services;
  readonly i18n: I18n;
  readonly commands: MessageCommands;
  /** Current conversation; null for a list of several. */
  readonly shown: Destination | null;
}

interface RareAction {
  readonly icon: Icon;
  readonly name: string;
  /** Equivalent key for the focused message. */
  readonly shortcut?: string;
  readonly isDangerous?: boolean;
  run(): void;
}

/** Message with the element to which the dialogs of its actions belong. */
interface ActionTarget {
  readonly message: Message;
  readonly anchor: HTMLElement;
  readonly services: Services;
  readonly i18n: I18n;
}

const isTouched = () => matchMedia('(pointer: coarse)').matches;

/** Usual reactions, as names and codes. */
const REACTIONS = [
  ['+1', '1f44d'],
  ['heart', '2764'],
  ['joy', '1f602'],
  ['tada', '1f389'],
  ['eyes', '1f440'],
  ['check', '2705'],
] as const;

/** Buttons of a message by their shortcuts. */
const BUTTONS: readonly (readonly [shortcut: string, icon: Icon])[] = [
  [':', SmilePlus],
  ['>', Quote],
  ['Control+S', Star],
  ['e', Pencil],
];

/** Actions for touch screens: the buttons next to the anchor, and copying, because a long press selects no text. */
function touchActions(
  { message, anchor, services: { chat }, i18n }: ActionTarget,
  { write }: MessageCommands,
): readonly RareAction[] {
  if (!isTouched()) return [];
  const buttons = BUTTONS.flatMap(([shortcut, icon]): readonly RareAction[] => {
    const button = anchor.parentElement?.querySelector<HTMLElement>(`[aria-keyshortcuts="${shortcut}"]`);
    // Waits until the closing menu has moved the focus.
    return button ? [{ icon, name: button.ariaLabel ?? '', run: () => void setTimeout(() => button.click()) }] : [];
  });
  const copy = () => {
    const text = chat.commands.source(message.id!).then((source) => new Blob([source], { type: 'text/plain' }));
    // Some browsers allow only writes that begin with the gesture.
    navigator.clipboard
      .write([new ClipboardItem({ 'text/plain': text })])
      .then(() => reportDone(i18n._('Text copied')), reportFailure);
  };
  const canReply = write && chat.rights.canSend(message.destination) === null;
  // Waits as above.
  const reply = () => void setTimeout(() => write!(message.destination, ''));
  return [
    ...(canReply ? [{ icon: Reply, name: i18n._('Reply'), run: reply }] : []),
    ...buttons,
    { icon: Copy, name: i18n._('Copy text'), run: copy },
  ];
}

type Offered = readonly (RareAction | false | null)[];

/** Less frequent actions on a message allowed by the server's rules. Their dialogs belong to the anchor. */
export function rareActionsOn(
  message: Message,
  anchor: HTMLElement,
  commands: MessageCommands,
  services: Services,
  i18n: I18n,
): readonly RareAction[] {
  const target = { message, anchor, services, i18n };
  return [
    ...readingActions(target, commands),
    ...detailActions(target),
    ...topicActions(target),
    ...moderatingActions(target),
  ].filter((action) => action !== false && action !== null);
}

const opening = (anchor: HTMLElement) => (load: () => Promise<ReactNode>) => () => openOverlay(anchor, load);

/** Actions of a reader, which change nothing for others. */
function readingActions(
  { message, anchor, services: { chat, baseUrl }, i18n }: ActionTarget,
  { write, markUnread }: MessageCommands,
): Offered {
  const id = message.id!;
  const open = opening(anchor);
  return [
    chat.rights.canMarkUnread(id) && {
      icon: MailOpen,
      name: i18n._('Mark as unread from here'),
      shortcut: 'U',
      run: () => markUnread(message),
    },
    {
      icon: Link,
      name: i18n._('Copy link to message'),
      run: () => {
        const address = chat.formatAddress({ view: 'narrow', narrow: narrowOf(message.destination), near: id });
        copyLink(baseUrl, address, i18n._('Link copied'));
      },
    },
    write && {
      icon: Forward,
      name: i18n._('Forward…'),
      shortcut: '<',
      run: open(async () => {
        const source = await chat.commands.source(id);
        const { ForwardDialog } = await import('./finder.js');
        return <ForwardDialog text={quoteOf(chat, message, source, i18n)} write={write} />;
      }),
    },
    {
      icon: message.isCollapsed ? ChevronsUpDown : ChevronsDownUp,
      name: message.isCollapsed ? i18n._('Expand message') : i18n._('Collapse message'),
      shortcut: '-',
      run: () => void chat.commands.collapse(id, !message.isCollapsed).catch(reportFailure),
    },
    {
      icon: AlarmClock,
      name: i18n._('Remind me about this…'),
      run: open(async () => {
        const { ReminderDialog } = await import('../editor/reminder-dialog.js');
        return <ReminderDialog messageId={id} />;
      }),
    },
  ];
}

/** Reactions, receipts and history. */
function detailActions({ message, anchor, services, i18n }: ActionTarget): Offered {
  const id = message.id!;
  const { rights } = services.chat;
  const wasChanged = message.editedAt !== null || message.movedAt !== null;
  const open = opening(anchor);
  return [
    message.reactions.length > 0 && {
      icon: SmilePlus,
      name: i18n._('See who reacted'),
      run: open(async () => {
        const { ReactionsDialog } = await import('./reactions-dialog.js');
        return <ReactionsDialog messageKey={message.key} />;
      }),
    },
    rights.canSeeReceipts && {
      icon: Eye,
      name: i18n._('View read receipts'),
      shortcut: 'V',
      run: open(async () => {
        const { ReceiptsDialog } = await import('../people/receipts-dialog.js');
        return <ReceiptsDialog messageId={id} />;
      }),
    },
    wasChanged &&
      rights.canSeeHistory && {
        icon: History,
        name: i18n._('View edit history'),
        shortcut: 'H',
        run: open(async () => {
          const { HistoryDialog } = await import('./history-dialog.js');
          return <HistoryDialog messageId={id} />;
        }),
      },
  ];
}

function topicActions({ message, anchor, services: { chat }, i18n }: ActionTarget): Offered {
  const id = message.id!;
  const topic = message.destination.kind === 'channel' ? message.destination : null;
  if (!topic) return [];
  const move = chat.rights.canMove(id);
  const isResolved = topic.topic.startsWith(RESOLVED_PREFIX);
  return [
    (move.topic || move.channel) && {
      icon: MoveRight,
      name: i18n._('Move messages'),
      shortcut: 'm',
      run: opening(anchor)(async () => {
        const { MoveDialog } = await import('../channels/move-dialog.js');
        return <MoveDialog place={topic} messageId={id} />;
      }),
    },
    chat.rights.canResolve(topic.channelId, topic.topic) && {
      icon: isResolved ? RotateCcw : Check,
      name: isResolved ? i18n._('Mark topic as unresolved') : i18n._('Mark topic as resolved'),
      run: () => void chat.commands.resolve(topic, !isResolved).catch(reportFailure),
    },
  ];
}

function moderatingActions({ message, anchor, services: { chat }, i18n }: ActionTarget): Offered {
  const id = message.id!;
  const open = opening(anchor);
  return [
    chat.rights.canReport(id) && {
      icon: Flag,
      name: i18n._('Report this message…'),
      run: open(async () => {
        const { ReportDialog } = await import('./report-dialog.js');
        return <ReportDialog messageId={id} />;
      }),
    },
    chat.rights.canDelete(id) && {
      icon: Trash2,
      name: i18n._('Delete'),
      isDangerous: true,
      run: open(async () => {
        const { FormDialog } = await import('../kit/dialog.js');
        return (
          <FormDialog
            title={i18n._('Delete this message?')}
            action={i18n._('Delete')}
            isDangerous
            onSubmit={() => chat.commands.delete(id)}
          >
            <p>{i18n._('It disappears for everyone and cannot be restored.')}</p>
          </FormDialog>
        );
      }),
    },
  ];
}

/** Markdown quote of a message with its author and a link, in the format of Zulip's clients. */
export function quoteOf(chat: Chat, { sender, destination, id }: Message, source: string, i18n: I18n): string {
  const address = chat.formatAddress({ view: 'narrow', narrow: narrowOf(destination), near: id });
  // The fence must be longer than every fence inside.
  const longest = Math.max(2, ...[...source.matchAll(/^`{3,}/gm)].map(([marks]) => marks.length));
  const fence = '`'.repeat(longest + 1);
  return `@_**${sender.name}|${sender.id}** [${i18n._('said')}](${address}):\n${fence}quote\n${source}\n${fence}\n`;
}

interface Props {
  readonly message: Message;
  readonly commands: MessageCommands;
}

export function MessageMenu({ message, commands }: Props) {
  const { i18n } = useLingui();
  const { anchor } = useOverlay();
  const services = useServices();
  const { chat } = services;
  const id = message.id!;
  const react = (emoji_name: string, emoji_code: string) =>
    chat.commands.toggleReaction(id, { emoji_name, emoji_code, reaction_type: 'unicode_emoji' }).catch(reportFailure);
  const actions = [
    ...touchActions({ message, anchor, services, i18n }, commands),
    ...rareActionsOn(message, anchor, commands, services, i18n),
  ];
  return (
    <Menu label={i18n._('More actions')} isSheet>
      {isTouched() && chat.rights.canReact(id) && (
        <MenuRow
          label={i18n._('Reactions')}
          items={REACTIONS.map(([name, code]) => ({
            name: `:${name}:`,
            content: <Emoji type="unicode_emoji" code={code} name={name} />,
            onSelect: () => react(name, code),
          }))}
        />
      )}
      {actions.map(({ icon, name, shortcut, isDangerous = false, run }) => (
        <Fragment key={name}>
          {isDangerous && <MenuLine />}
          <MenuItem icon={icon} isDangerous={isDangerous} shortcut={shortcut} onSelect={run}>
            {name}
          </MenuItem>
        </Fragment>
      ))}
    </Menu>
  );
}
