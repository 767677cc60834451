import { useLingui } from '@lingui/react';
import { type ComponentType, memo, type ReactNode, useMemo, useState } from 'react';
import { groupTitle } from '../editor/destination-heading.js';
import { EllipsisVertical, MessageSquarePlus, Plus, Rows3 } from '../icons/icons.js';
import { OverlayButton } from '../kit/icon-button.js';
import { useChat, useComputed, usePlace } from '../services/context.js';
import { loadLater, useLoaded } from '../services/loading.js';
import { useReading } from '../services/use-reading.js';
import { foldedIds, unreadIds } from './channel-lists.js';
import { onlyUnread } from './only-unread.js';
import styles from './sidebar.module.css';
import { ChannelList, type ChannelsProps, Direct, Entry, Few, Section, ViewEntry } from './sidebar-rows.js';
import { useViews } from './views.js';

/** Initially shown read direct conversations. */
const FEW_DIRECTS = 5;

const loadTools = () => loadLater(() => import('./sidebar-tools.js'));

interface SidebarProps {
  /** True in the application, which offers to browse channels and to invite people. */
  readonly invites?: boolean;
}

/** Filter, views, direct conversations and channels with unread counts. */
export const Sidebar = memo(function Sidebar({ invites }: SidebarProps) {
  const { i18n } = useLingui();
  const { isVisitor, isReady } = useChat();
  // Sections that begin empty would move the next ones.
  const hasRows = useReading(isReady);
  const tools = useLoaded(loadTools, !isVisitor);
  const [query, setQuery] = useState('');
  return (
    <>
      {!isVisitor && <div className={styles.tools}>{tools && <tools.Filter query={query} onChange={setQuery} />}</div>}
      <nav
        className={styles.sidebar}
        aria-label={i18n._('Conversations')}
        onKeyDown={tools?.moveInList}
        data-stop
        onClick={(event) => tools?.isOpening(event) && setQuery('')}
      >
        {isVisitor ? (
          <>
            <ul className={styles.list}>
              <Entry href="#feed" icon={<Rows3 size={17} aria-hidden />}>
                {i18n._('Combined feed')}
              </Entry>
            </ul>
            <Channels />
          </>
        ) : tools && query.trim() !== '' ? (
          <tools.Found query={query} />
        ) : (
          <>
            <Section title={i18n._('Views')} button={<ChooseViews />}>
              <Views />
            </Section>
            {hasRows && (
              <>
                <Directs />
                <Channels button={<AddChannels />} Folded={tools?.FoldedChannels} />
              </>
            )}
            {invites && tools && <tools.More />}
          </>
        )}
      </nav>
    </>
  );
});

function Views() {
  return useViews()
    .filter(({ isShown }) => isShown)
    .map((view) => <ViewEntry key={view.href} view={view} />);
}

function ChooseViews() {
  const { i18n } = useLingui();
  return (
    <OverlayButton
      icon={EllipsisVertical}
      label={i18n._('Choose views')}
      opens="dialog"
      load={() => import('./views-dialog.js').then(({ ViewsDialog }) => <ViewsDialog />)}
    />
  );
}

function AddChannels() {
  const { i18n } = useLingui();
  return (
    <OverlayButton
      icon={Plus}
      label={i18n._('Add channels')}
      opens="menu"
      load={() => import('./channels-menu.js').then(({ ChannelsMenu }) => <ChannelsMenu />)}
    />
  );
}

function Directs() {
  const { i18n } = useLingui();
  const known = useReading(useChat().sidebar.directs);
  const userIds = usePlace(({ to }) => (to?.kind === 'direct' ? to.userIds : null));
  const key = String(userIds);
  // The opened conversation may have no messages.
  const isListed = userIds === null || known.some((row) => row.key === key);
  const unread = { count: 0, hasMention: false };
  const rows = isListed ? known : [{ key, userIds, lastMessageId: 0, unread }, ...known];
  return (
    <Section title={i18n._('Direct messages')} button={<NewDirect />}>
      <Few
        rows={rows}
        few={FEW_DIRECTS}
        more={i18n._('More conversations')}
        isOpened={(row) => row.key === key}
        draw={(row) => <Direct key={row.key} row={row} />}
      />
    </Section>
  );
}

function NewDirect() {
  const { i18n } = useLingui();
  return (
    <OverlayButton
      icon={MessageSquarePlus}
      label={i18n._('New direct message')}
      opens="dialog"
      load={() => import('../people/direct-dialog.js').then(({ DirectDialog }) => <DirectDialog />)}
    />
  );
}

interface AllChannelsProps {
  readonly button?: ReactNode;
  /** Missing until it is loaded. */
  readonly Folded?: ComponentType<Pick<ChannelsProps, 'ids'>> | undefined;
}

/** Channels under group headings; the first heading has a button. Muted and inactive ones are folded. */
function Channels({ button, Folded }: AllChannelsProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const { sidebar, isVisitor } = chat;
  const groups = useReading(sidebar.channelGroups);
  const unread = useComputed(() => unreadIds(chat).join(), [chat]);
  const folded = useComputed(() => foldedIds(chat), [chat]);
  const current = usePlace(({ channelId }) => channelId);
  const isOnlyUnread = useReading(onlyUnread) && !isVisitor;
  const wanted = useMemo(() => new Set(unread.split(',').map(Number)).add(current ?? 0), [unread, current]);
  return groups.map((group, index) => {
    const isShown = (id: number) => wanted.has(id) || !(isOnlyUnread || folded.has(id));
    const ids = group.channelIds.filter(isShown);
    const others = group.channelIds.filter((id) => !isShown(id));
    const isFirst = index === 0;
    // Channels of other people are listed while they are open.
    if (current && !groups[index + 1] && !sidebar.channelIds.peek().includes(current)) ids.push(current);
    if (isOnlyUnread && ids.length === 0 && !isFirst) return null;
    return (
      <Section key={group.key} title={groupTitle(i18n, group)} button={isFirst && button}>
        <ChannelList ids={ids} isFirst={isFirst} />
        {!isOnlyUnread && Folded && others.length > 0 && <Folded ids={others} />}
      </Section>
    );
  });
}
