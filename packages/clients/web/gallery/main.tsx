import '../src/app/tokens.css';
import type { I18n } from '@lingui/core';
import { I18nProvider } from '@lingui/react';
import { type MouseEvent, type ReactNode, StrictMode, useMemo, useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { useContentWorld } from '../src/app/content-world.js';
import { loadLanguage } from '../src/app/languages.js';
import { ContentContext } from '../src/content/message-body.js';
import { ErrorBoundary } from '../src/kit/error-boundary.js';
import { OverlayHost } from '../src/kit/overlay.js';
import { openManaging } from '../src/managing/open.js';
import { ServicesContext } from '../src/services/context.js';
import { OwnNavigation } from '../src/services/location.js';
import { openOverlay } from '../src/services/overlay.js';
import { APPLICATION } from './application.js';
import { CONVERSATION } from './conversation.js';
import type { Exhibit } from './exhibit.js';
import styles from './gallery.module.css';
import { EXPECTED, KIT } from './kit.js';
import { MANAGING } from './managing.js';
import { OVERLAYS } from './overlays.js';
import { PAGES } from './pages.js';
import { openWorld, type World, type WorldName } from './world.js';

const GROUPS: Readonly<Record<string, readonly Exhibit[]>> = {
  kit: KIT,
  conversation: CONVERSATION,
  pages: PAGES,
  overlays: OVERLAYS,
  managing: MANAGING,
  application: APPLICATION,
};

const THEMES = ['light', 'dark', 'light high-contrast', 'dark high-contrast'];

const HEBREW = 'אבגדהוזחטיכלמנסעפצקרשת';

const TEXTS: Readonly<Record<string, (text: string) => string>> = {
  usual: (text) => text,
  stretched: (text) => text.replace(/\p{L}{3,}/gu, (word) => word + word.slice(0, Math.ceil(word.length / 2))),
  'right to left': (text) => text.replace(/\p{L}/gu, (letter) => HEBREW[letter.codePointAt(0)! % HEBREW.length]!),
};

type Worlds = Readonly<Record<WorldName, World>>;

function Shown({ exhibit, worlds }: { readonly exhibit: Exhibit; readonly worlds: Worlds }) {
  const world = worlds[exhibit.world ?? 'full'];
  const navigation = useMemo(() => new OwnNavigation(`#${exhibit.at ?? 'inbox'}`), [exhibit]);
  const services = useMemo(() => ({ ...world, navigation }), [world, navigation]);
  const stay = (event: MouseEvent) => {
    const link = (event.target as Element).closest('a');
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    const hash = link.getAttribute('href');
    if (hash?.startsWith('#')) navigation.navigate(hash);
  };
  return (
    <section className={styles.exhibit} aria-label={exhibit.name}>
      <h2>{exhibit.name}</h2>
      <ServicesContext.Provider value={services}>
        {exhibit.open && (
          <button
            type="button"
            className={styles.open}
            aria-haspopup="dialog"
            onClick={({ currentTarget }) =>
              openOverlay(currentTarget, async () => (
                <ServicesContext.Provider value={services}>
                  <WithContent>{await exhibit.open!(world, currentTarget)}</WithContent>
                </ServicesContext.Provider>
              ))
            }
          >
            {exhibit.name}
          </button>
        )}
        {exhibit.draw && (
          // biome-ignore lint/a11y/noStaticElementInteractions: only links within are followed.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the Enter key clicks a link.
          <div className={styles.frame} style={{ height: exhibit.height }} onClick={stay}>
            <WithContent>
              <ErrorBoundary text="This exhibit could not be drawn.">{exhibit.draw(world)}</ErrorBoundary>
            </WithContent>
          </div>
        )}
      </ServicesContext.Provider>
    </section>
  );
}

function WithContent({ children }: { readonly children: ReactNode }) {
  return <ContentContext.Provider value={useContentWorld()}>{children}</ContentContext.Provider>;
}

const onHash = (onChange: () => void) => {
  addEventListener('hashchange', onChange);
  return () => removeEventListener('hashchange', onChange);
};

interface GalleryProps {
  readonly worlds: Worlds;
  setTexts(texts: string): void;
}

/** All components in all states, by group. */
function Gallery({ worlds, setTexts }: GalleryProps) {
  const group = useSyncExternalStore(onHash, () => location.hash.slice(1) || 'kit');
  const services = useMemo(() => ({ ...worlds.full, navigation: new OwnNavigation('#inbox') }), [worlds]);
  return (
    <ServicesContext.Provider value={services}>
      <nav className={styles.bar} aria-label="Gallery">
        {Object.keys(GROUPS).map((name) => (
          <a key={name} href={`#${name}`} aria-current={name === group || undefined}>
            {name}
          </a>
        ))}
        {THEMES.map((theme) => (
          <button
            key={theme}
            type="button"
            onClick={() => {
              document.documentElement.dataset.theme = theme;
            }}
          >
            {theme}
          </button>
        ))}
        {Object.keys(TEXTS).map((texts) => (
          <button key={texts} type="button" onClick={() => setTexts(texts)}>
            {texts}
          </button>
        ))}
      </nav>
      <main className={styles.exhibits}>
        <h1>Gallery: {group}</h1>
        {GROUPS[group]?.map((exhibit) => (
          <Shown key={exhibit.name} exhibit={exhibit} worlds={worlds} />
        ))}
      </main>
      <WithContent>
        <OverlayHost />
      </WithContent>
    </ServicesContext.Provider>
  );
}

function Root({ i18n, worlds }: { readonly i18n: I18n; readonly worlds: Worlds }) {
  const [original] = useState(() => i18n.messages);
  const setTexts = (name: string) => {
    const words = (value: unknown): unknown =>
      typeof value === 'string' ? TEXTS[name]!(value) : Array.isArray(value) ? value.map(changed) : value;
    const changed = (part: unknown) => (typeof part === 'string' ? TEXTS[name]!(part) : part);
    const messages = Object.fromEntries(Object.entries(original).map(([key, value]) => [key, words(value)]));
    i18n.loadAndActivate({ locale: i18n.locale, messages: messages as I18n['messages'] });
    document.documentElement.dir = name === 'right to left' ? 'rtl' : 'ltr';
  };
  return (
    <I18nProvider i18n={i18n}>
      <Gallery worlds={worlds} setTexts={setTexts} />
    </I18nProvider>
  );
}

/** One exhibit throws on purpose. */
const onCaughtError = (error: unknown) => {
  if (error !== EXPECTED) console.error(error);
};

const NAMES: readonly WorldName[] = ['full', 'empty', 'failing', 'loading', 'member', 'visitor'];

async function start(): Promise<void> {
  const i18n = await loadLanguage(['en']);
  await openManaging(i18n, 'en');
  const opened = await Promise.all(NAMES.map(async (name) => [name, await openWorld(name)] as const));
  const worlds = Object.fromEntries(opened) as unknown as Worlds;
  for (const { world = 'full', prepare } of Object.values(GROUPS).flat()) prepare?.(worlds[world]);
  createRoot(document.getElementById('parley')!, { onCaughtError }).render(
    <StrictMode>
      <Root i18n={i18n} worlds={worlds} />
    </StrictMode>,
  );
}

void start();
