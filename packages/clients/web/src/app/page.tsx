import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { Narrow } from '@parley/chat';
import { type ComponentType, useMemo } from 'react';
import { ConversationPage } from '../conversation/conversation-page.js';
import type { ListView } from '../inbox/pages.js';
import { Loading } from '../kit/loading.js';
import { useAddress, useChat } from '../services/context.js';
import { useDrawn, useLoaded } from '../services/loading.js';
import { useReading } from '../services/use-reading.js';

/** Page for the current address. */
export function Page() {
  const { address } = useAddress();
  const { isVisitor, connection } = useChat();
  const isOver = useReading(connection).state === 'ended';
  useDrawn(address?.view !== 'narrow');
  if (isVisitor && isOver) return <Lazy key="ended" load={loadAccessEnded} />;
  if (!address || (address.view === 'other' && !MANAGED[address.path[0]!]))
    return <Lazy key="missing" load={loadNotFound} />;
  if (isVisitor && (address.view !== 'narrow' || needsAccount(address.narrow)))
    return <Lazy key="account" load={loadNeedsAccount} />;
  if (address.view === 'narrow') return <ConversationPage narrow={address.narrow} near={address.near} />;
  if (address.view === 'other') return <Managing path={address.path} />;
  return <ListPage view={address.view} />;
}

/** True for messages that visitors can never read. */
const needsAccount = (narrow: Narrow): boolean =>
  narrow.some(
    ({ operator, operand }) =>
      operator === 'dm' || operator === 'dm-including' || (operator === 'is' && operand !== 'resolved'),
  );

const loadNotFound = () => import('./no-page.js').then(({ NotFound }) => NotFound);
const loadNeedsAccount = () => import('./no-page.js').then(({ NeedsAccount }) => NeedsAccount);
const loadAccessEnded = () => import('./no-page.js').then(({ AccessEnded }) => AccessEnded);

export const loadListPages = () => import('../inbox/pages.js').then(({ PAGES }) => PAGES);

function ListPage({ view }: { readonly view: ListView }) {
  const load = useMemo(() => () => loadListPages().then((pages) => pages[view]()), [view]);
  return <Lazy key={view} load={load} />;
}

function Lazy({ load }: { readonly load: () => Promise<ComponentType> }) {
  const Loaded = useLoaded(load);
  return Loaded ? <Loaded /> : <Loading />;
}

/** Settings areas by the first part of their addresses. */
export const MANAGED: Readonly<Record<string, (i18n: I18n) => string>> = {
  channels: (i18n) => i18n._('Channels'),
  groups: (i18n) => i18n._('Groups'),
  settings: (i18n) => i18n._('Settings'),
  organization: (i18n) => i18n._('Organization'),
};

function Managing({ path }: { readonly path: readonly string[] }) {
  const { i18n } = useLingui();
  const { locale } = i18n;
  const load = useMemo(
    () => () => import('../managing/open.js').then(({ openManaging }) => openManaging(i18n, locale)),
    [i18n, locale],
  );
  const ManagingPage = useLoaded(load);
  return ManagingPage ? <ManagingPage path={path} /> : <Loading />;
}
