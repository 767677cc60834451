import './app/tokens.css';
import { I18nProvider } from '@lingui/react';
import { type Chat, parseAddress } from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App, VisitorApp } from './app/app.js';
import { browserLanguages, changeLanguage, loadLanguage, showLanguage } from './app/languages.js';
import { loadListPages } from './app/page.js';
import { applyTheme, followPreferences } from './app/preferences.js';
import { ServicesContext } from './services/context.js';
import { isServerBusy } from './services/failures.js';
import { isDrawn, loadSheetsAgain } from './services/loading.js';
import { homeOf, PageNavigation } from './services/location.js';
import { startServices } from './services/services.js';

/** Organization URL: this file is in a subfolder of it. */
const baseUrl = new URL(/* @vite-ignore */ '..', import.meta.url).href;

const KINDS = ['session', 'host', 'visitor'] as const;
const named = document.querySelector<HTMLMetaElement>('meta[name=parley-credentials]')?.content;
const credentials = KINDS.find((kind) => kind === named) ?? 'session';
const isVisitor = credentials === 'visitor';
const userId = Number(document.querySelector<HTMLMetaElement>('meta[name=parley-user]')?.content ?? 0);

function goToLogIn(): void {
  location.assign(`${baseUrl}login/?next=${encodeURIComponent(location.pathname + location.hash)}`);
}

const onHold = (isHeld: boolean) => {
  isServerBusy.value = isHeld;
};

async function start(): Promise<void> {
  applyTheme();
  loadSheetsAgain();
  const language = loadLanguage(browserLanguages());
  let chat: Chat | undefined;
  const onLoggedOut = (code: string) => chat?.leave(code);
  const ofUser = isVisitor ? {} : { userId, onLoggedOut };
  const client = new ParleyClient({ url: baseUrl, credentials, onHold, ...ofUser });
  const address = isVisitor ? null : parseAddress(location.hash);
  const messages = address?.view === 'narrow' ? address : null;
  // Most people start there; the page loads it again on failure.
  if (!messages && !isVisitor) loadListPages().catch(() => {});
  const services = await startServices({
    client,
    baseUrl,
    userId,
    kind: 'application',
    isVisitor,
    isDrawn: messages ? isDrawn : undefined,
  });
  chat = services.chat;
  const navigation = new PageNavigation(() => homeOf(services.chat));
  // Messages are fetched in parallel with the organization's state, which they do not need.
  const kept = navigation.kept();
  const shown = chat.ownAddress(messages);
  const early = shown?.view === 'narrow' ? chat.open(shown.narrow, kept ? kept.id : shown.near) : null;
  // The page opens them as well.
  void isDrawn.then(() => early?.close());
  const isLoggedIn = services.isLoggedIn.then((isIn) => {
    if (!isIn) goToLogIn();
    return isIn;
  });
  if (early === null && !(await isLoggedIn)) return;
  const i18n = await language;
  showLanguage(i18n.locale);
  followPreferences(services.chat, i18n);
  const setLanguage = (name: string) => void changeLanguage(i18n, name);
  addEventListener('beforeunload', (event) => {
    if (services.uploads.opened?.isBusy()) event.preventDefault();
  });
  const logOut = async () => {
    // Logging out must not fail because the page cannot load the file or reach the push service.
    await import('./phone/offline.js').then(({ forgetDevice }) => forgetDevice(baseUrl)).catch(() => {});
    await services.forget();
    const elsewhere = await services.client.endSession().catch(() => null);
    if (elsewhere === null) goToLogIn();
    else location.assign(elsewhere);
  };
  createRoot(document.getElementById('parley')!).render(
    <StrictMode>
      <I18nProvider i18n={i18n}>
        <ServicesContext.Provider value={{ ...services, navigation, setLanguage }}>
          {isVisitor ? (
            <VisitorApp onLogIn={goToLogIn} />
          ) : (
            <App onLogOut={credentials === 'host' ? undefined : () => void logOut()} />
          )}
        </ServicesContext.Provider>
      </I18nProvider>
    </StrictMode>,
  );
}

// Browsers older than the page's text says would show a broken page.
if (CSS.supports('(color:light-dark(red,red)) and selector(:has(a))')) {
  document.querySelector('.not-started')?.remove();
  void start();
}
