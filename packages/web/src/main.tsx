import './app/tokens.css';
import { I18nProvider } from '@lingui/react';
import { Chat } from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.js';
import { loadLanguage } from './app/languages.js';
import { applyTheme } from './app/theme.js';
import { watchActivity } from './services/activity.js';
import { ServicesContext } from './services/context.js';
import { Drafts } from './services/drafts.js';
import { EmojiNames } from './services/emoji-names.js';
import { Uploads } from './services/uploads.js';

/** Address of the organization: this file is in a folder of its own below it. */
const baseUrl = new URL(/* @vite-ignore */ '..', import.meta.url).href;

const isHostLogin = document.querySelector<HTMLMetaElement>('meta[name=parley-credentials]')?.content === 'host';
const client = new ParleyClient({ url: baseUrl, credentials: isHostLogin ? 'host' : 'session' });
const chat = new Chat({ gateway: client, isActive: watchActivity() });

function goToLogIn(): void {
  location.assign(`${baseUrl}login/?next=${encodeURIComponent(location.pathname + location.hash)}`);
}

/** Resolves once the state of the organization is there; false if nobody is logged in. */
function whenReady(): Promise<boolean> {
  return new Promise((resolve) => {
    chat.isReady.subscribe((isReady) => isReady && resolve(true));
    chat.connection.subscribe(({ state }) => state === 'ended' && resolve(false));
  });
}

async function start(): Promise<void> {
  applyTheme();
  void chat.run();
  const [i18n, isLoggedIn] = await Promise.all([loadLanguage(navigator.languages), whenReady()]);
  if (!isLoggedIn) return goToLogIn();
  document.documentElement.lang = i18n.locale;
  const drafts = new Drafts(baseUrl, chat.state.selfId);
  const uploads = new Uploads(
    async (file, options) => (await client.post('/user_uploads', { filename: file }, options)).url,
    () => chat.state.fields.peek('max_file_upload_size_mib') ?? 0,
  );
  const services = { chat, client, baseUrl, drafts, uploads, emoji: new EmojiNames(chat, baseUrl) };
  const logOut = () => client.endSession().then(goToLogIn, goToLogIn);
  createRoot(document.getElementById('parley')!).render(
    <StrictMode>
      <I18nProvider i18n={i18n}>
        <ServicesContext.Provider value={services}>
          <App onLogOut={() => void logOut()} />
        </ServicesContext.Provider>
      </I18nProvider>
    </StrictMode>,
  );
}

void start();
