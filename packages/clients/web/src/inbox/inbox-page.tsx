import { useLingui } from '@lingui/react';
import { type Chat, type ConversationRow, type Destination, destinationKey } from '@parley/chat';
import { type ComponentType, type Dispatch, type SetStateAction, useMemo, useState } from 'react';
import { ChannelIcon, groupTitle } from '../editor/destination-heading.js';
import {
  AtSign,
  BellOff,
  BellRing,
  ChevronDown,
  ChevronRight,
  CircleCheckBig,
  MailCheck,
  MoveRight,
  SquareCheck,
} from '../icons/icons.js';
import { UnreadBadge } from '../kit/badge.js';
import { Empty } from '../kit/empty.js';
import { keyNames } from '../kit/key-names.js';
import { useChat, useComputed, useField, useServices } from '../services/context.js';
import { useLoaded } from '../services/loading.js';
import { openOverlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';
import { useToday } from '../services/use-today.js';
import { useUnopenedTopics } from '../services/use-unopened-topics.js';
import { Choices } from './choices.js';
import { ConversationItem, MAX_FACES, ROWS, RowsEnd } from './conversation-item.js';
import styles from './inbox.module.css';
import { InboxDone } from './inbox-done.js';
import { fold, foldedSections, storedChoice } from './list-settings.js';
import { EXTEND, type LastRow, useRowKeys } from './row-keys.js';
import {
  type DrawnSection,
  drawnGroups,
  dueCount,
  type InboxGroup,
  type InboxSection,
  inboxGroups,
  newestOf,
  policyOf,
} from './triage.js';
import { TriageActions } from './triage-actions.js';
import { UndoLine } from './undo-line.js';
import { useMessages } from './use-messages.js';

const lastRow: LastRow = { row: null, index: 0 };

const filterChoice = storedChoice('parley-inbox-filter', ['all', 'mentions', 'direct', 'followed', 'later']);

const loadLaterList = () => import('./later-list.js').then(({ LaterList }) => LaterList);

const loadFirstSteps = () => import('./first-steps.js').then(({ FirstSteps }) => FirstSteps);

/** Unread conversations: direct ones, then topics by channel, with channels grouped under headings. */
export function InboxPage() {
  const { i18n } = useLingui();
  const { chat, client } = useServices();
  const filter = useReading(filterChoice.current);
  const folded = useReading(foldedSections);
  const [limit, setLimit] = useState(lastRow.index + ROWS);
  const inbox = useReading(chat.conversations.inbox);
  const groups = useComputed(
    () => inboxGroups(chat.conversations.inbox.value, filter, (row) => policyOf(chat, row)),
    [chat, filter],
  );
  const drawn = useMemo(() => drawnGroups(groups, folded, limit), [groups, folded, limit]);
  const actions = useMemo(() => new TriageActions(chat, client, i18n), [chat, client, i18n]);
  const [selected, setSelected] = useState<Selection>(NOTHING);
  const take = (row: string) => {
    setSelected(NOTHING);
    const rows = groups.flatMap(({ sections }) => sections.flatMap((section) => section.rows));
    return rows.filter(({ key }) => (selected.has(row) ? selected.has(key) : key === row));
  };
  const selection = { selected, select: setSelected, take };
  const keys = useRowKeys(lastRow, (key, row) => press(key, row, groups, actions, focusRow, selection));
  const focusRow = (row: string) =>
    keys.ref.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row)}"]`)?.focus();
  const isNew = useField('onboarding_steps')?.some(({ name }) => name === 'first_steps') === true;
  const FirstSteps = useLoaded(loadFirstSteps, isNew);
  const LaterList = useLoaded(loadLaterList, filter === 'later');
  const isRead = filter !== 'later' && inbox.directs.length + inbox.groups.length === 0;
  const channelIds = drawn.groups.flatMap(({ sections }) =>
    sections.flatMap(({ key }) => (key === 'direct' ? [] : key)),
  );
  // Last messages of topics may be read.
  useUnopenedTopics(channelIds);
  const newest = useComputed(() => newestMessages(chat, drawn.groups), [chat, drawn]);
  useMessages([...newest.values()].flat());
  return (
    <div className={styles.place}>
      <div className={styles.page}>
        {isNew && FirstSteps && <FirstSteps />}
        <Tools hasUnread={groups.length > 0} selectedCount={selected.size} />
        {isRead && <InboxDone />}
        {!isRead && filter !== 'later' && groups.length === 0 && (
          <Empty icon={CircleCheckBig} text={i18n._('Nothing unread here.')} />
        )}
        <section {...keys} className={styles.list} tabIndex={-1} aria-label={i18n._('Inbox')} data-messages>
          {filter === 'later' && LaterList && <LaterList />}
          {drawn.groups.map((group) => (
            <Group key={group.key} group={group} newest={newest} actions={actions} selection={selection} />
          ))}
          {drawn.hasMore && <RowsEnd key={limit} onNear={() => setLimit(limit + ROWS)} />}
        </section>
      </div>
      <UndoLine actions={actions} lastRow={lastRow} list={keys.ref} />
    </div>
  );
}

/** Newest unread messages of each row, and the last message even if it is read; newest first. */
function newestMessages(
  chat: Chat,
  groups: readonly InboxGroup<DrawnSection>[],
): ReadonlyMap<string, readonly number[]> {
  const rows = groups.flatMap(({ sections }) => sections.flatMap(({ drawn }) => drawn));
  const unreadIn = (to: Destination) => chat.state.unread.byDestination.get(destinationKey(to)) ?? [];
  return new Map(
    rows.map((row) => {
      const unread = newestOf(unreadIn(row.destination), MAX_FACES);
      const last = lastIn(chat, row);
      return [row.key, last > (unread[0] ?? 0) ? [last, ...unread].slice(0, MAX_FACES) : unread];
    }),
  );
}

/** Last known message. The topics of the inbox itself only know unread ones. */
function lastIn({ sidebar }: Chat, { destination: to, lastMessageId }: ConversationRow): number {
  if (to.kind === 'direct') return lastMessageId;
  return sidebar.topics(to.channelId).value.find(({ name }) => name === to.topic)?.lastMessageId ?? 0;
}

/** Keys of the selected rows. */
type Selection = ReadonlySet<string>;

interface SelectionProps {
  readonly selected: Selection;
  readonly select: Dispatch<SetStateAction<Selection>>;
  /** Ends the selection and returns its rows, or only the given one if that is not selected. */
  take(row: string): readonly ConversationRow[];
}

const NOTHING: Selection = new Set();

const toggled = (selected: Selection, row: string): Selection =>
  selected.has(row) ? new Set([...selected].filter((each) => each !== row)) : new Set([...selected, row]);

/** Runs the shortcut of a conversation or of a section. */
function press(
  key: string,
  row: string,
  groups: readonly InboxGroup[],
  actions: TriageActions,
  focusRow: (row: string) => void,
  selection: SelectionProps,
): boolean {
  const sections = groups.flatMap((group) => group.sections);
  const section = sections.find((each) => rowOfSection(each.key) === row);
  const conversation = sections.flatMap(({ rows }) => rows).find((each) => each.key === row);
  const { selected, select, take } = selection;
  const heading = conversation && sections.find(({ rows }) => rows.includes(conversation));
  const [marked] = selected;
  const chosen = () => (marked === undefined && section ? section.rows : take(marked ?? row));
  actions.row = row;
  if (key === 'Control+Z') void actions.undo(lastRow);
  else if (key === 'U' && (section || conversation)) void actions.markRead(chosen());
  else if (key === 'M' && conversation) void actions.mute(chosen());
  else if (key === 'F' && conversation) void actions.toggleFollow(chosen());
  else if (key === ' ' && conversation) select(toggled(selected, row));
  else if (key === EXTEND && conversation) select((before) => new Set([...before, row]));
  else if (key === 'Escape' && selected.size > 0) select(NOTHING);
  else if (key === 'ArrowLeft' && section) fold(section.key, true);
  else if (key === 'ArrowLeft' && heading) focusRow(rowOfSection(heading.key));
  else if (key === 'ArrowRight' && section) fold(section.key, false);
  else return false;
  return true;
}

const rowOfSection = (key: InboxSection['key']): string => `section:${key}`;

interface ToolsProps {
  readonly hasUnread: boolean;
  readonly selectedCount: number;
}

function Tools({ hasUnread, selectedCount: count }: ToolsProps) {
  const { i18n } = useLingui();
  const reminders = useField('reminders') ?? [];
  const scheduled = useField('scheduled_messages') ?? [];
  const times = [...reminders, ...scheduled].map((each) => each.scheduled_delivery_timestamp);
  useToday();
  return (
    <div className={styles.tools}>
      <Choices
        label={i18n._('Filter conversations')}
        choice={filterChoice}
        options={[
          ['all', i18n._('All')],
          ['mentions', i18n._('Mentions')],
          ['direct', i18n._('Direct messages')],
          ['followed', i18n._('Followed topics')],
          ['later', i18n._('Later'), dueCount(times, new Date())],
        ]}
      />
      <output>{count > 0 && i18n._('{count, plural, one {# selected} other {# selected}}', { count })}</output>
      {hasUnread && (
        <button
          type="button"
          className={styles.button}
          aria-haspopup="dialog"
          onClick={({ currentTarget }) =>
            openOverlay(currentTarget, async () => {
              const { ReadAllDialog } = await import('./read-all-dialog.js');
              return <ReadAllDialog />;
            })
          }
        >
          <MailCheck size={16} aria-hidden /> {i18n._('Mark all as read')}
        </button>
      )}
    </div>
  );
}

interface GroupProps {
  readonly group: InboxGroup<DrawnSection>;
  readonly newest: ReadonlyMap<string, readonly number[]>;
  readonly actions: TriageActions;
  readonly selection: SelectionProps;
}

function Group({ group: { key, name, sections }, ...props }: GroupProps) {
  const { i18n } = useLingui();
  const hasTitle = key !== 'all' && key !== 'direct';
  return (
    <>
      {hasTitle && <h2 className={styles.folder}>{groupTitle(i18n, { key, name })}</h2>}
      {sections.map((section) => (
        <Section key={section.key} section={section} as={hasTitle ? 'h3' : 'h2'} {...props} />
      ))}
    </>
  );
}

interface SectionProps extends Omit<GroupProps, 'group'> {
  readonly section: DrawnSection;
  readonly as: 'h2' | 'h3';
}

/** Heading that folds its conversations. */
function Section({
  section: { key, rows, drawn, count, hasMention },
  as: Heading,
  newest,
  actions,
  selection,
}: SectionProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const isFolded = useReading(foldedSections).has(key);
  const channel = useReading(chat.sidebar.channel(key === 'direct' ? 0 : key));
  const Chevron = isFolded ? ChevronRight : ChevronDown;
  return (
    <section>
      <div className={styles.item}>
        <Heading className={styles.heading}>
          <button
            type="button"
            data-row={rowOfSection(key)}
            aria-expanded={!isFolded}
            onClick={() => fold(key, !isFolded)}
          >
            <Chevron size={16} aria-hidden />
            {key === 'direct' ? (
              i18n._('Direct messages')
            ) : (
              <>
                <ChannelIcon channelId={key} /> {channel?.name}
              </>
            )}
            {isFolded && hasMention && <AtSign size={14} aria-label={i18n._('You were mentioned')} />}
            <UnreadBadge count={count} isMuted={!isFolded} />
          </button>
        </Heading>
        <span className={styles.actions}>
          <RowButton
            icon={MailCheck}
            label={i18n._('Mark as read')}
            keys="Shift+U"
            onClick={() => actions.markRead(rows)}
          />
          {channel && <ChannelLink id={channel.id} name={channel.name} />}
        </span>
      </div>
      <ul>
        {drawn.map((row) => (
          <Row key={row.key} row={row} messageIds={newest.get(row.key) ?? []} actions={actions} selection={selection} />
        ))}
      </ul>
    </section>
  );
}

function ChannelLink({ id, name }: { readonly id: number; readonly name: string }) {
  const { i18n } = useLingui();
  const label = i18n._('Go to channel {name}', { name });
  const address = { view: 'narrow', narrow: [{ operator: 'channel', operand: id }], near: null } as const;
  return (
    <a className={styles.action} href={useChat().formatAddress(address)} tabIndex={-1} aria-label={label} title={label}>
      <MoveRight size={18} />
    </a>
  );
}

interface RowProps {
  readonly row: ConversationRow;
  /** Last message and newest unread messages, newest first. */
  readonly messageIds: readonly number[];
  readonly actions: TriageActions;
  readonly selection: SelectionProps;
}

function Row({ row, messageIds, actions, selection: { selected, select, take } }: RowProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const { destination } = row;
  const senders = useComputed(
    () => [...new Set(messageIds.flatMap((id) => chat.state.messages.get(id)?.sender_id ?? []))],
    [chat, messageIds.join()],
  );
  // The last message may have been deleted.
  const messageId = useComputed(
    () => messageIds.find((id) => chat.state.messages.get(id)) ?? 0,
    [chat, messageIds.join()],
  );
  const isFollowed = useComputed(() => policyOf(chat, row) === 'followed', [chat, row]);
  const faces = destination.kind === 'direct' ? destination.userIds.slice(0, MAX_FACES) : senders;
  return (
    <ConversationItem
      row={row}
      messageId={messageId}
      faces={faces}
      isInChannel
      isSelected={selected.has(row.key)}
      actions={
        <>
          <RowButton
            icon={MailCheck}
            label={i18n._('Mark as read')}
            keys="Shift+U"
            onClick={() => actions.markRead(take(row.key))}
          />
          <RowButton
            icon={SquareCheck}
            label={i18n._('Select')}
            keys="Space"
            isPressed={selected.has(row.key)}
            onClick={() => select(toggled(selected, row.key))}
          />
          {destination.kind === 'channel' && (
            <>
              <RowButton
                icon={BellOff}
                label={i18n._('Mute topic')}
                keys="Shift+M"
                onClick={() => actions.mute(take(row.key))}
              />
              <RowButton
                icon={BellRing}
                label={i18n._('Follow topic')}
                keys="Shift+F"
                isPressed={isFollowed}
                onClick={() => actions.toggleFollow(take(row.key))}
              />
            </>
          )}
        </>
      }
    />
  );
}

interface RowButtonProps {
  readonly icon: ComponentType<{ readonly size?: number }>;
  readonly label: string;
  /** Shortcut of the row. */
  readonly keys: string;
  readonly isPressed?: boolean;
  onClick(): void;
}

/** Button that is not a tab stop, since its row has a shortcut. */
function RowButton({ icon: Icon, label, keys, isPressed, onClick }: RowButtonProps) {
  const { i18n } = useLingui();
  return (
    <button
      type="button"
      className={styles.action}
      tabIndex={-1}
      aria-label={label}
      aria-keyshortcuts={keys}
      aria-pressed={isPressed}
      title={`${label} (${keyNames(keys, i18n)})`}
      onClick={onClick}
    >
      <Icon size={18} />
    </button>
  );
}
