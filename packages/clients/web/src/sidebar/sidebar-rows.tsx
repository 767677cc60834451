import { useLingui } from '@lingui/react';
import type { DirectRow, TopicRow } from '@parley/chat';
import { type CSSProperties, memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ChannelMenuButton, TopicMenuButton } from '../channels/menu-buttons.js';
import { ChannelIcon } from '../editor/destination-heading.js';
import { BellOff, BellRing, Check, ChevronDown, ChevronRight, Users as UsersIcon } from '../icons/icons.js';
import { CountBadge, UnreadBadge } from '../kit/badge.js';
import { Emoji } from '../kit/emoji.js';
import { IconButton } from '../kit/icon-button.js';
import { mounted } from '../kit/mounted.js';
import { PresenceDot } from '../people/presence-dot.js';
import { useAddressOf, useChat, useIsCurrent, useNames, usePlace } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { useReading } from '../services/use-reading.js';
import { onlyUnread } from './only-unread.js';
import styles from './sidebar.module.css';
import type { SidebarView } from './views.js';

/** Initially shown read topics of a channel. */
const FEW_TOPICS = 5;
/** Rows added by the button for more: nearly always all. */
const MORE = 500;
/** Number of channels rendered together when the first of them approaches the viewport. */
const DRAWN_TOGETHER = 50;

export function ViewEntry({ view: { href, icon: Icon, label, count, waiting } }: { readonly view: SidebarView }) {
  return (
    <Entry href={href} icon={<Icon size={17} />} count={count} waiting={waiting}>
      {label}
    </Entry>
  );
}

interface SectionProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Button next to the title. */
  readonly button?: ReactNode;
}

export function Section({ title, children, button }: SectionProps) {
  return (
    <div className={styles.section}>
      {button && <span className={styles.sectionButton}>{button}</span>}
      <details open>
        <summary>
          <ChevronDown size={14} aria-hidden />
          <h2>{title}</h2>
        </summary>
        <ul className={styles.list}>{children}</ul>
      </details>
    </div>
  );
}

interface EntryProps {
  readonly href: string;
  readonly icon: ReactNode;
  readonly children: ReactNode;
  /** Unread messages. */
  readonly count?: number;
  /** The user's texts there. */
  readonly waiting?: number;
  readonly isMuted?: boolean;
  readonly hasMention?: boolean;
  readonly isNested?: boolean;
  readonly below?: ReactNode;
  /** Button next to the link. */
  readonly menu?: ReactNode;
}

export function Entry(props: EntryProps) {
  const { href, icon, children, count = 0, waiting = 0, isMuted = false, hasMention, isNested, below, menu } = props;
  const { i18n } = useLingui();
  const isCurrent = useIsCurrent(href);
  const link = useRef<HTMLAnchorElement>(null);
  useLayoutEffect(() => {
    if (isCurrent) showInList(mounted(link));
  }, [isCurrent]);
  return (
    <li>
      <div className={styles.line}>
        <a
          ref={link}
          href={href}
          className={styles.entry}
          aria-current={isCurrent ? 'page' : undefined}
          data-unread={count > 0 || undefined}
          data-muted={isMuted || undefined}
          data-nested={isNested}
        >
          {icon}
          <span className={styles.label}>
            <bdi>{children}</bdi>
          </span>
          {hasMention && (
            <span className={styles.mention} role="img" aria-label={i18n._('You were mentioned')}>
              @
            </span>
          )}
          <UnreadBadge count={count} isMuted={isMuted} />
          <CountBadge count={waiting} />
        </a>
        {menu && <span className={styles.menu}>{menu}</span>}
      </div>
      {below}
    </li>
  );
}

/** Unfolds the section of a row and scrolls as little as possible, so that it and the rows next to it are visible. */
function showInList(link: HTMLElement): void {
  const list = link.closest('nav');
  if (!list) return;
  link.closest('details')?.setAttribute('open', '');
  const { top, bottom, height } = link.getBoundingClientRect();
  const box = list.getBoundingClientRect();
  if (top - height < box.top) list.scrollTop -= box.top - top + height;
  else if (bottom + height > box.bottom) list.scrollTop += bottom + height - box.bottom;
}

export function Direct({ row }: { readonly row: DirectRow }) {
  const chat = useChat();
  const { i18n } = useLingui();
  const names = useNames(row.userIds);
  const first = useReading(chat.people.person(row.userIds[0] ?? chat.state.selfId));
  const href = useAddressOf({ kind: 'direct', userIds: row.userIds });
  return (
    <Entry
      href={href}
      icon={row.userIds.length > 1 ? <UsersIcon size={15} aria-hidden /> : <PresenceDot presence={first.presence} />}
      count={row.unread.count}
      hasMention={row.unread.hasMention}
    >
      {names.length === 0 ? i18n._('Messages with yourself') : names.join(', ')}
      {row.userIds.length === 1 && first.statusEmoji && <Emoji {...first.statusEmoji} />}
    </Entry>
  );
}

export interface ChannelsProps {
  readonly ids: readonly number[];
  /** True for the first channels of the sidebar, which are visible at once. */
  readonly isFirst: boolean;
}

export function ChannelList({ ids, isFirst }: ChannelsProps) {
  const starts = Array.from({ length: Math.ceil(ids.length / DRAWN_TOGETHER) }, (_, n) => n * DRAWN_TOGETHER);
  return starts.map((start) => (
    <LazyChannels key={start} ids={ids.slice(start, start + DRAWN_TOGETHER)} isFirst={isFirst && start === 0} />
  ));
}

/** Placeholder for channels until it approaches the viewport. */
function LazyChannels({ ids, isFirst }: ChannelsProps) {
  const [wasNear, setNear] = useState(isFirst);
  const isCurrent = usePlace(({ channelId }) => channelId !== null && ids.includes(channelId));
  const isDrawn = wasNear || isCurrent;
  const blank = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isDrawn) return;
    const observer = new IntersectionObserver(([entry]) => setNear(entry!.isIntersecting), {
      root: mounted(blank).closest('nav'),
      rootMargin: '100%',
    });
    observer.observe(mounted(blank));
    return () => observer.disconnect();
  }, [isDrawn]);
  if (isDrawn) return ids.map((id) => <Channel key={id} id={id} />);
  return <li ref={blank} className={styles.blank} style={{ '--rows': ids.length } as CSSProperties} aria-hidden />;
}

interface ChannelProps {
  readonly id: number;
  /** Topics to list below; default: all topics if the channel is open or unfolded. */
  readonly topics?: readonly TopicRow[];
}

export const Channel = memo(function Channel({ id, topics }: ChannelProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const channel = useReading(chat.sidebar.channel(id));
  const isOpen = usePlace(({ channelId }) => channelId === id);
  const [isUnfolded, setUnfolded] = useState(false);
  if (!channel) return null;
  const menu = (
    <>
      {!isOpen && !topics && (
        <IconButton
          icon={isUnfolded ? ChevronDown : ChevronRight}
          label={i18n._('Topics')}
          isPressed={isUnfolded}
          onClick={() => setUnfolded(!isUnfolded)}
        />
      )}
      <ChannelMenuButton channelId={id} />
    </>
  );
  const below = topics ? (
    <ul className={styles.list}>{topics.map(drawTopic)}</ul>
  ) : isOpen || isUnfolded ? (
    <Topics channelId={id} />
  ) : undefined;
  return (
    <Entry
      href={chat.formatAddress({ view: 'narrow', narrow: [{ operator: 'channel', operand: id }], near: null })}
      icon={<ChannelIcon channelId={id} size={16} />}
      count={channel.unread.count}
      hasMention={channel.unread.hasMention}
      isMuted={channel.isMuted}
      menu={chat.isVisitor ? undefined : menu}
      below={below}
    >
      {channel.name}
    </Entry>
  );
});

const drawTopic = (topic: TopicRow) => <Topic key={topic.name.toLowerCase()} topic={topic} />;

function Topics({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const { sidebar } = chat;
  const known = useReading(sidebar.topics(channelId));
  const list = useRef<HTMLUListElement>(null);
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    chat.loadTopics(channelId).then(() => setLoaded(true), reportFailure);
  }, [chat, channelId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: loaded topics may have moved the opened one down.
  useLayoutEffect(() => {
    const opened = mounted(list).querySelector<HTMLElement>('[aria-current]');
    if (opened) showInList(opened);
  }, [isLoaded]);
  const opened = usePlace(({ to }) => (to?.kind === 'channel' && to.channelId === channelId ? to.topic : null));
  const isOpened = ({ name }: TopicRow) => name.toLowerCase() === opened?.toLowerCase();
  // The opened topic may have no messages.
  const isListed = opened === null || known.some(isOpened);
  const topics = isListed ? known : [sidebar.topic(channelId, opened), ...known];
  return (
    <ul ref={list} className={styles.list}>
      <Few rows={topics} few={FEW_TOPICS} more={i18n._('More topics')} isOpened={isOpened} draw={drawTopic} />
    </ul>
  );
}

interface FewProps<Row> {
  readonly rows: readonly Row[];
  /** Number of rows shown initially. */
  readonly few: number;
  /** Label of the button that shows more. */
  readonly more: string;
  /** True for the row of the opened conversation. */
  isOpened(row: Row): boolean;
  draw(row: Row): ReactNode;
}

/** First rows of a list, the opened one, those with unread messages, and a button for the others or for fewer. */
export function Few<Row extends Pick<TopicRow, 'unread'>>({ rows, few, more, isOpened, draw }: FewProps<Row>) {
  const { i18n } = useLingui();
  const isOnlyUnread = useReading(onlyUnread);
  const [limit, setLimit] = useState(few);
  const shown = rows.filter((row, index) => (index < limit && !isOnlyUnread) || row.unread.count > 0 || isOpened(row));
  const hasMore = shown.length < rows.length;
  return (
    <>
      {shown.map(draw)}
      {!isOnlyUnread && (hasMore || limit > few) && (
        <li>
          <button
            type="button"
            className={styles.entry}
            data-more
            onClick={() => setLimit(hasMore ? limit + MORE : few)}
          >
            {hasMore ? more : i18n._('Show fewer')}
          </button>
        </li>
      )}
    </>
  );
}

function Topic({ topic }: { readonly topic: TopicRow }) {
  const { i18n } = useLingui();
  const { isVisitor } = useChat();
  const href = useAddressOf({ kind: 'channel', channelId: topic.channelId, topic: topic.name });
  const icon = topic.isResolved ? (
    <Check size={14} aria-label={i18n._('resolved')} />
  ) : topic.isMuted ? (
    <BellOff size={13} aria-label={i18n._('muted')} />
  ) : topic.policy === 'followed' ? (
    <BellRing size={13} aria-label={i18n._('Followed')} />
  ) : (
    <span className={styles.bullet} aria-hidden />
  );
  return (
    <Entry
      href={href}
      icon={icon}
      count={topic.unread.count}
      hasMention={topic.unread.hasMention}
      isMuted={topic.isMuted}
      isNested
      menu={
        isVisitor ? undefined : (
          <TopicMenuButton place={{ kind: 'channel', channelId: topic.channelId, topic: topic.name }} />
        )
      }
    >
      {topic.title}
    </Entry>
  );
}
