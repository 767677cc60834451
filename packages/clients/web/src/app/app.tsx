import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { type Address, destinationOf } from '@parley/chat';
import { lazy, type ReactNode, type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import { ChannelMenuButton, TopicMenuButton } from '../channels/menu-buttons.js';
import { ContentContext, loadRareParts } from '../content/message-body.js';
import { ConversationTitle, loadWriting } from '../conversation/conversation-page.js';
import { loadWidget } from '../conversation/message-row.js';
import { onlyChannel } from '../editor/destination-heading.js';
import { Bell, LogIn, Menu, Settings, Users, X } from '../icons/icons.js';
import { Shortcuts } from '../keyboard/shortcuts.js';
import { Avatar } from '../kit/avatar.js';
import { Emoji } from '../kit/emoji.js';
import { ErrorBoundary } from '../kit/error-boundary.js';
import { IconButton, OverlayButton } from '../kit/icon-button.js';
import { mounted } from '../kit/mounted.js';
import { OverlayHost } from '../kit/overlay.js';
import { PersonButton } from '../people/person-button.js';
import { useAddress, useChat, useComputed, useField, useServices } from '../services/context.js';
import { loadLater, preload, useLoaded } from '../services/loading.js';
import type { Place } from '../services/location.js';
import { useReading } from '../services/use-reading.js';
import { Sidebar } from '../sidebar/sidebar.js';
import { builtInViews } from '../sidebar/views.js';
import styles from './app.module.css';
import { useContentWorld } from './content-world.js';
import { ConnectionLine, DoneLine, FailureLine, QuietLine } from './lines.js';
import { MANAGED, Page } from './page.js';
import { Search } from './search.js';

const DeferredParts = lazy(() => loadLater(() => import('./deferred-parts.js')));

const loadBottomBar = () => loadLater(() => import('../phone/bottom-bar.js')).then(({ BottomBar }) => BottomBar);

const loadDeviceNotifications = () =>
  import('../push/device-notifications.js').then(({ DeviceNotificationsDialog }) => <DeviceNotificationsDialog />);

const loadPeoplePanel = () => import('../people/people-panel.js').then(({ PeoplePanel }) => PeoplePanel);

interface AppProps {
  /** Missing if the host application manages log-ins. */
  readonly onLogOut: (() => void) | undefined;
}

/** Full-page application. */
export function App({ onLogOut }: AppProps) {
  // Needed for conversations opened offline.
  useEffect(() => {
    void preload(loadWriting);
    // Messages of the next conversations have their final height at once.
    void loadLater(() => Promise.all([preload(loadRareParts), preload(loadWidget)]));
  }, []);
  return (
    <>
      <TabTitle />
      <Workspace
        tools={<Shortcuts onLogOut={onLogOut} />}
        account={<Account onLogOut={onLogOut} />}
        deferred={
          <Suspense>
            <DeferredParts onLogOut={onLogOut} />
          </Suspense>
        }
        invites
      />
    </>
  );
}

interface VisitorProps {
  onLogIn(): void;
}

/** Read-only application for people without an account. */
export function VisitorApp({ onLogIn }: VisitorProps) {
  const { i18n } = useLingui();
  const account = (
    <div className={styles.account}>
      <button type="button" className={styles.logIn} onClick={onLogIn}>
        <LogIn size={18} aria-hidden /> {i18n._('Log in')}
      </button>
    </div>
  );
  return (
    <>
      <TabTitle />
      <Workspace account={account} />
    </>
  );
}

interface WorkspaceProps {
  /** Shown next to the organization name. */
  readonly tools?: ReactNode;
  /** Shown below the conversations. */
  readonly account?: ReactNode;
  /** Shown above the page. */
  readonly deferred?: ReactNode;
  /** True to offer inviting people. */
  readonly invites?: boolean;
}

/** Sidebar, heading and the addressed page. */
export function Workspace({ tools, account, deferred, invites = false }: WorkspaceProps) {
  const { i18n } = useLingui();
  const main = useRef<HTMLElement>(null);
  const place = useAddress();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPanelOpen, setPanelOpen] = useState(false);
  const PeoplePanel = useLoaded(loadPeoplePanel, isPanelOpen);
  const BottomBar = useLoaded(loadBottomBar, matchMedia('(pointer: coarse)').matches);
  const { isVisitor } = useChat();
  // Keeps the focus within a settings area.
  const placeKey = place.address?.view === 'other' ? place.address.path[0] : `${place.hash} ${place.visit}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: going somewhere closes the menu.
  useEffect(() => setMenuOpen(false), [place]);
  useKeysOfPlace(main, place);
  return (
    <ContentContext.Provider value={useContentWorld()}>
      <button type="button" className={styles.skip} onClick={() => focusMessages(mounted(main))}>
        {i18n._('Skip to the messages')}
      </button>
      <div className={styles.app} data-panel={isPanelOpen || undefined}>
        <aside className={styles.side} part="sidebar" data-open={isMenuOpen || undefined}>
          <OrganizationHeader tools={tools} onClose={() => setMenuOpen(false)} />
          <ErrorBoundary text={i18n._('The list of conversations could not be shown.')}>
            <Sidebar invites={invites} />
          </ErrorBoundary>
          {account}
        </aside>
        <main className={styles.main} ref={main} tabIndex={-1} aria-labelledby="heading">
          <header className={styles.header} part="header">
            <span className={styles.menuButton}>
              <IconButton icon={Menu} label={i18n._('Conversations')} onClick={() => setMenuOpen(true)} />
            </span>
            <h1 id="heading">
              <PageTitle />
            </h1>
            {!isVisitor && <PlaceMenu />}
            <Search />
            {!isVisitor && (
              <IconButton
                icon={Users}
                label={i18n._('People')}
                shortcut="w"
                isPressed={isPanelOpen}
                onClick={() => setPanelOpen(!isPanelOpen)}
              />
            )}
          </header>
          <QuietLine />
          <ConnectionLine />
          {deferred}
          <FailureLine />
          <DoneLine />
          <ErrorBoundary key={placeKey} text={i18n._('This page could not be shown.')}>
            <Page />
          </ErrorBoundary>
        </main>
        {BottomBar && <BottomBar isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} />}
        {isPanelOpen && PeoplePanel && (
          <ErrorBoundary text={i18n._('The list of people could not be shown.')}>
            <PeoplePanel onClose={() => setPanelOpen(false)} />
          </ErrorBoundary>
        )}
      </div>
      <OverlayHost />
    </ContentContext.Provider>
  );
}

/** Moves the focus to the messages of a place that the user has opened, unless it is in the page already. */
function useKeysOfPlace(main: RefObject<HTMLElement | null>, place: Place): void {
  const shown = useRef(place);
  useEffect(() => {
    if (shown.current === place) return;
    shown.current = place;
    const frame = requestAnimationFrame(() => {
      const page = mounted(main);
      const { activeElement } = page.getRootNode() as Document | ShadowRoot;
      const isFree = activeElement === document.body || activeElement === page;
      if (isFree || activeElement?.closest('[part="sidebar"]')) focusMessages(page);
    });
    return () => cancelAnimationFrame(frame);
  }, [main, place]);
}

/** Focuses the messages, or the page until they are loaded. A frame around all messages would say nothing. */
const focusMessages = (page: HTMLElement) =>
  (page.querySelector<HTMLElement>('[data-messages]') ?? page).focus({ preventScroll: true, focusVisible: false });

function PageTitle() {
  const { i18n } = useLingui();
  const { address } = useAddress();
  if (address?.view === 'narrow') return <ConversationTitle narrow={address.narrow} />;
  return <>{titleOf(i18n, address) ?? i18n._('Page not found')}</>;
}

/** Title of a page without messages; undefined for a missing page. */
function titleOf(i18n: I18n, address: Address | null): string | undefined {
  const managed = address?.view === 'other' ? MANAGED[address.path[0]!] : undefined;
  return managed?.(i18n) ?? builtInViews(i18n).find(({ href }) => href === `#${address?.view}`)?.label;
}

/** Loaded after the first message. */
const loadPlaceTools = () => loadLater(() => import('./place-tools.js')).then(({ PlaceTools }) => PlaceTools);

/** Tools and menu of the current topic or channel. */
function PlaceMenu() {
  const { i18n } = useLingui();
  const { address, to } = useAddress();
  const PlaceTools = useLoaded(loadPlaceTools);
  if (address?.view !== 'narrow') return null;
  const channelId = onlyChannel(address.narrow);
  return (
    <div className={styles.tools} role="toolbar" aria-label={i18n._('Channel actions')} data-stop>
      {PlaceTools && <PlaceTools narrow={address.narrow} />}
      {to?.kind === 'channel' && <TopicMenuButton place={to} />}
      {channelId !== null && <ChannelMenuButton channelId={channelId} />}
    </div>
  );
}

interface HeaderProps extends Pick<WorkspaceProps, 'tools'> {
  onClose(): void;
}

function OrganizationHeader({ tools, onClose }: HeaderProps) {
  const { i18n } = useLingui();
  const name = useField('realm_name') ?? '';
  const { baseUrl } = useServices();
  const icon = useField('realm_icon_url');
  const iconUrl = icon === undefined ? null : new URL(icon.replace(/^\//, ''), baseUrl).href;
  return (
    <div className={styles.organization}>
      <Avatar url={iconUrl} name={name} size={28} />
      <span className={styles.organizationName}>
        <bdi>{name}</bdi>
      </span>
      {tools}
      <span className={styles.menuButton}>
        <IconButton icon={X} label={i18n._('Close')} onClick={onClose} />
      </span>
    </div>
  );
}

function Account({ onLogOut }: AppProps) {
  const { i18n } = useLingui();
  const chat = useChat();
  const self = useReading(chat.people.person(chat.state.selfId));
  return (
    <div className={styles.account} role="toolbar" aria-label={i18n._('Main menu')} data-stop>
      <PersonButton person={self} size={28} className={styles.self}>
        <span className={styles.organizationName}>
          <bdi>{self.name}</bdi>
        </span>
        {self.statusEmoji && <Emoji {...self.statusEmoji} />}
      </PersonButton>
      <OverlayButton
        icon={Bell}
        label={i18n._('Notifications on this device')}
        opens="dialog"
        load={loadDeviceNotifications}
      />
      <OverlayButton
        icon={Settings}
        label={i18n._('Main menu')}
        shortcut="g"
        opens="menu"
        load={() => import('./main-menu.js').then(({ MainMenu }) => <MainMenu onLogOut={onLogOut} />)}
      />
    </div>
  );
}

/** Browser tab title; a separate component, so that count changes re-render nothing else. */
function TabTitle(): null {
  const chat = useChat();
  const count = useReading(chat.sidebar.badge);
  const name = useField('realm_name') ?? '';
  const page = usePageName();
  useEffect(() => {
    // Zulip's desktop app parses the count from the title.
    const title = [page, name, 'Parley'].filter(Boolean).join(' - ');
    if (name !== '') document.title = count > 0 ? `(${count}) ${title}` : title;
  }, [count, page, name]);
  return null;
}

/** Page heading as plain text; empty for missing pages. */
function usePageName(): string {
  const { i18n } = useLingui();
  const chat = useChat();
  const { address } = useAddress();
  return useComputed(() => {
    if (address?.view !== 'narrow') return titleOf(i18n, address) ?? '';
    const destination = destinationOf(address.narrow);
    if (destination?.kind === 'direct') {
      return destination.userIds.map((id) => chat.people.person(id).value.name).join(', ');
    }
    const channelId = destination?.channelId ?? onlyChannel(address.narrow);
    if (channelId === null) return address.narrow.length === 0 ? i18n._('Combined feed') : i18n._('Search');
    const channel = `#${chat.sidebar.channel(channelId).value?.name ?? ''}`;
    return destination ? `${channel} > ${destination.topic || chat.field('realm_empty_topic_display_name')}` : channel;
  }, [address, chat, i18n]);
}
