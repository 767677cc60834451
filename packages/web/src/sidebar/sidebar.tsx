import { useLingui } from '@lingui/react';
import { type DirectRow, narrowKey, narrowOf, type TopicRow } from '@parley/chat';
import {
  BellOff,
  Check,
  ChevronDown,
  EllipsisVertical,
  MessageSquarePlus,
  Plus,
  Rows3,
  Users as UsersIcon,
} from 'lucide-react';
import { type CSSProperties, memo, type ReactNode, useEffect, useRef, useState } from 'react';
import { ChannelMenuButton, TopicMenuButton } from '../channels/menu-buttons.js';
import { ChannelIcon, groupTitle } from '../conversation/destination-heading.js';
import { UnreadBadge } from '../kit/badge.js';
import { Emoji } from '../kit/emoji.js';
import { IconButton } from '../kit/icon-button.js';
import { PresenceDot } from '../people/presence-dot.js';
import { useAddressOf, useChat, useIsCurrent, useNames, usePlace, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';
import styles from './sidebar.module.css';
import { useViews } from './views.js';

/** Initially shown read topics of a channel; `FEW_DIRECTS` is the same for direct conversations. */
const FEW_TOPICS = 5;
const FEW_DIRECTS = 12;
const MORE = 50;
/** Number of channels rendered together when the first of them approaches the viewport. */
const DRAWN_TOGETHER = 50;

/** Views, direct conversations and channels with unread counts. */
export const Sidebar = memo(function Sidebar() {
  const { i18n } = useLingui();
  const chat = useChat();
  const directs = useReading(chat.sidebar.directs);
  if (chat.isVisitor) return <VisitorSidebar />;
  return (
    <nav className={styles.sidebar} aria-label={i18n._('Conversations')}>
      <Section title={i18n._('Views')} button={<ChooseViews />}>
        <Views />
      </Section>
      <Section title={i18n._('Direct messages')} button={<NewDirect />}>
        <Few
          rows={directs}
          few={FEW_DIRECTS}
          more={i18n._('More conversations')}
          isWanted={({ unread }) => unread.count > 0}
          draw={(row) => <Direct key={row.key} row={row} />}
        />
      </Section>
      <Channels button={<BrowseChannels />} />
    </nav>
  );
});

/** Channels readable without an account. */
function VisitorSidebar() {
  const { i18n } = useLingui();
  return (
    <nav className={styles.sidebar} aria-label={i18n._('Conversations')}>
      <ul className={styles.list}>
        <Entry href="#feed" icon={<Rows3 size={17} aria-hidden />}>
          {i18n._('Combined feed')}
        </Entry>
      </ul>
      <Channels />
    </nav>
  );
}

function Views() {
  const total = useReading(useChat().sidebar.total);
  return useViews()
    .filter(({ isShown }) => isShown)
    .map(({ href, icon: Icon, label, waiting }) => (
      <Entry key={href} href={href} icon={<Icon size={17} />} count={href === '#inbox' ? total.count : 0}>
        {waiting ? `${label} (${waiting})` : label}
      </Entry>
    ));
}

function ChooseViews() {
  const { i18n } = useLingui();
  return (
    <IconButton
      icon={EllipsisVertical}
      label={i18n._('Choose views')}
      opens="dialog"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => {
          const { ViewsDialog } = await import('./views-dialog.js');
          return <ViewsDialog />;
        })
      }
    />
  );
}

interface SectionProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Button next to the title. */
  readonly button?: ReactNode;
}

function Section({ title, children, button }: SectionProps) {
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
  readonly count?: number;
  readonly isMuted?: boolean;
  readonly hasMention?: boolean;
  readonly isNested?: boolean;
  readonly below?: ReactNode;
  /** Button next to the link. */
  readonly menu?: ReactNode;
}

function Entry(props: EntryProps) {
  const { href, icon, children, count = 0, isMuted = false, hasMention = false, isNested, below, menu } = props;
  const { i18n } = useLingui();
  const isCurrent = useIsCurrent(href);
  return (
    <li>
      <div className={styles.line}>
        <a
          href={href}
          className={styles.entry}
          aria-current={isCurrent ? 'page' : undefined}
          data-unread={count > 0 || undefined}
          data-muted={isMuted || undefined}
          data-nested={isNested}
        >
          {icon}
          <span className={styles.label}>{children}</span>
          {hasMention && (
            <span className={styles.mention} role="img" aria-label={i18n._('You were mentioned')}>
              @
            </span>
          )}
          <UnreadBadge count={count} isMuted={isMuted} />
        </a>
        {menu && <span className={styles.menu}>{menu}</span>}
      </div>
      {below}
    </li>
  );
}

function BrowseChannels() {
  const { i18n } = useLingui();
  const { navigation } = useServices();
  return (
    <IconButton
      icon={Plus}
      label={i18n._('Browse channels')}
      onClick={() => navigation.navigate('#channels/available')}
    />
  );
}

function NewDirect() {
  const { i18n } = useLingui();
  return (
    <IconButton
      icon={MessageSquarePlus}
      label={i18n._('New direct message')}
      opens="dialog"
      onClick={({ currentTarget }) =>
        openOverlay(currentTarget, async () => {
          const { DirectDialog } = await import('../people/direct-dialog.js');
          return <DirectDialog />;
        })
      }
    />
  );
}

function Direct({ row }: { readonly row: DirectRow }) {
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

/** Channels under group headings; the first heading has a button. */
function Channels({ button }: { readonly button?: ReactNode }) {
  const { i18n } = useLingui();
  const groups = useReading(useChat().sidebar.channelGroups);
  return groups.map((group, index) => {
    const { key, channelIds: ids } = group;
    const starts = Array.from({ length: Math.ceil(ids.length / DRAWN_TOGETHER) }, (_, n) => n * DRAWN_TOGETHER);
    const isFirst = index === 0;
    return (
      <Section key={key} title={groupTitle(i18n, group)} button={isFirst && button}>
        {starts.map((start) => (
          <LazyChannels key={start} ids={ids.slice(start, start + DRAWN_TOGETHER)} isFirst={isFirst && start === 0} />
        ))}
      </Section>
    );
  });
}

/** Placeholder for channels until it approaches the viewport. */
function LazyChannels({ ids, isFirst }: { readonly ids: readonly number[]; readonly isFirst: boolean }) {
  const [isDrawn, setDrawn] = useState(isFirst);
  const blank = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isDrawn) return;
    const observer = new IntersectionObserver(([entry]) => setDrawn(entry!.isIntersecting), {
      root: blank.current!.closest('nav'),
      rootMargin: '100%',
    });
    observer.observe(blank.current!);
    return () => observer.disconnect();
  }, [isDrawn]);
  if (isDrawn) return ids.map((id) => <Channel key={id} id={id} />);
  return <li ref={blank} className={styles.blank} style={{ '--rows': ids.length } as CSSProperties} aria-hidden />;
}

const Channel = memo(function Channel({ id }: { readonly id: number }) {
  const chat = useChat();
  const channel = useReading(chat.sidebar.channel(id));
  const isOpen = usePlace(({ channelId }) => channelId === id);
  if (!channel) return null;
  return (
    <Entry
      href={chat.formatAddress({ view: 'narrow', narrow: [{ operator: 'channel', operand: id }], near: null })}
      icon={<ChannelIcon channelId={id} size={16} />}
      count={channel.unread.count}
      hasMention={channel.unread.hasMention}
      isMuted={channel.isMuted}
      menu={chat.isVisitor ? undefined : <ChannelMenuButton channelId={id} />}
      below={isOpen ? <Topics channelId={id} /> : undefined}
    >
      {channel.name}
    </Entry>
  );
});

function Topics({ channelId }: { readonly channelId: number }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const topics = useReading(chat.sidebar.topics(channelId));
  useEffect(() => {
    chat.loadTopics(channelId).catch(reportFailure);
  }, [chat, channelId]);
  const place = usePlace(({ key }) => key);
  const keyOfTopic = ({ name }: TopicRow) => narrowKey(narrowOf({ kind: 'channel', channelId, topic: name }));
  return (
    <ul className={styles.list}>
      <Few
        rows={topics}
        few={FEW_TOPICS}
        more={i18n._('More topics')}
        isWanted={(topic) => topic.unread.count > 0 || keyOfTopic(topic) === place}
        draw={(topic) => <Topic key={topic.name.toLowerCase()} topic={topic} />}
      />
    </ul>
  );
}

interface FewProps<Row> {
  readonly rows: readonly Row[];
  /** Number of rows shown initially. */
  readonly few: number;
  /** Label of the button that shows more. */
  readonly more: string;
  /** True for rows that are always shown. */
  isWanted(row: Row): boolean;
  draw(row: Row): ReactNode;
}

/** First rows of a list, rows that are always shown, and a button for more. */
function Few<Row>({ rows, few, more, isWanted, draw }: FewProps<Row>) {
  const [limit, setLimit] = useState(few);
  const shown = rows.filter((row, index) => index < limit || isWanted(row));
  return (
    <>
      {shown.map(draw)}
      {shown.length < rows.length && (
        <li>
          <button type="button" className={styles.entry} data-more onClick={() => setLimit(limit + MORE)}>
            {more}
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
