import { signal } from '@preact/signals-core';
import { useRef } from 'react';
import { App, VisitorApp, Workspace } from '../src/app/app.js';
import app from '../src/app/app.module.css';
import { ConnectionLine, FailureLine } from '../src/app/lines.js';
import { Chat as WholeChat } from '../src/components/chat.js';
import { Composer } from '../src/components/composer.js';
import { Conversation } from '../src/components/conversation.js';
import { ConversationList } from '../src/components/conversation-list.js';
import { Inbox, RecentConversations } from '../src/components/inbox.js';
import { Messages } from '../src/components/messages.js';
import { People } from '../src/components/people.js';
import { SearchChips } from '../src/conversation/search-chips.js';
import { SearchSuggestions } from '../src/conversation/search-suggestions.js';
import { ElementView } from '../src/element/element-view.js';
import { BottomBar } from '../src/phone/bottom-bar.js';
import { ServicesContext, useServices } from '../src/services/context.js';
import { lastFailure } from '../src/services/failures.js';
import { Sidebar } from '../src/sidebar/sidebar.js';
import sidebar from '../src/sidebar/sidebar.module.css';
import { Found } from '../src/sidebar/sidebar-tools.js';
import { type Exhibit, GALLERY, nothing } from './exhibit.js';

const { channelId: channel, topic } = GALLERY;

/** Connection line above a page for a reported connection state. */
function Connected({ state, code = null }: { readonly state: 'offline' | 'ended'; readonly code?: string | null }) {
  const services = useServices();
  const connection = signal({ state, since: 1_790_000_000_000, code });
  const chat = Object.create(services.chat, { connection: { value: connection } });
  return (
    <ServicesContext.Provider value={{ ...services, chat }}>
      <ConnectionLine />
    </ServicesContext.Provider>
  );
}

/** The page's search field with suggestions for a text. */
function SearchField({ text }: { readonly text: string }) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <search className={app.search}>
      <form>
        <input ref={field} type="search" role="combobox" aria-expanded aria-label="Search" defaultValue={text} />
        <SearchSuggestions field={field} text={text} filters={[]} scope={[]} onClose={nothing} ref={null} />
      </form>
    </search>
  );
}

/** The page's search field with filters. */
function FilteredField() {
  const field = useRef<HTMLInputElement>(null);
  return (
    <search className={app.search} data-chips>
      <form>
        <span className={app.searchField}>
          <input ref={field} type="search" aria-label="Search" defaultValue="plums" />
          <SearchChips
            field={field}
            scope={[]}
            filters={['sender:Desdemona', 'has:link']}
            onWiden={nothing}
            onRemove={nothing}
          />
        </span>
      </form>
    </search>
  );
}

function FilteredList({ query }: { readonly query: string }) {
  return (
    <nav className={sidebar.sidebar} aria-label="Conversations" style={{ height: '100%' }}>
      <Found query={query} />
    </nav>
  );
}

const view = (name: string | null) => ({ view: name, channel: String(channel), topic, direct: null });

/** The application, the package's components and the element's views. */
export const APPLICATION: readonly Exhibit[] = [
  { name: 'application', height: 760, draw: () => <App onLogOut={nothing} /> },
  { name: 'visitor', world: 'visitor', height: 500, at: 'feed', draw: () => <VisitorApp onLogIn={nothing} /> },
  { name: 'channel', height: 500, at: `narrow/channel/${channel}-Verona`, draw: () => <Workspace /> },
  { name: 'new organization', world: 'empty', height: 600, draw: () => <Workspace /> },
  { name: 'bar of touch screens', draw: () => <BottomBar isMenuOpen={false} onMenu={nothing} /> },
  { name: 'list of conversations', draw: () => <Sidebar /> },
  { name: 'list of conversations, empty', world: 'empty', draw: () => <Sidebar /> },
  { name: 'filtered list of conversations', height: 400, draw: () => <FilteredList query="o" /> },
  { name: 'filtered list, nothing found', height: 100, draw: () => <FilteredList query="xyzzyplugh" /> },
  { name: 'suggestions for an empty search', height: 480, draw: () => <SearchField text="" /> },
  { name: 'suggestions for a person', height: 480, draw: () => <SearchField text="gallery from:" /> },
  { name: 'search with filters', height: 60, draw: () => <FilteredField /> },
  { name: 'offline', draw: () => <Connected state="offline" /> },
  { name: 'session ended', draw: () => <Connected state="ended" /> },
  { name: 'account deactivated', draw: () => <Connected state="ended" code="USER_DEACTIVATED" /> },
  {
    name: 'command refused',
    prepare: () => {
      lastFailure.value = { code: 'BAD_REQUEST', message: 'The reason of the server, in a sentence of usual length' };
    },
    draw: () => <FailureLine />,
  },
  { name: 'element: chat', height: 500, draw: () => <ElementView shown={{ ...view('chat') }} tell={() => true} /> },
  { name: 'element: conversation', height: 500, draw: () => <ElementView shown={view(null)} tell={() => true} /> },
  { name: 'element: list', height: 500, draw: () => <ElementView shown={view('list')} tell={() => true} /> },
  { name: 'element: button', draw: () => <ElementView shown={view('button')} tell={() => true} /> },
  {
    name: 'element: unknown conversation',
    draw: () => <ElementView shown={{ ...view(null), channel: 'nowhere' }} tell={() => true} />,
  },
  { name: 'part: whole chat', height: 500, draw: () => <WholeChat channel={channel} topic={topic} /> },
  { name: 'part: conversation', height: 500, draw: () => <Conversation channel={channel} topic={topic} /> },
  { name: 'part: list', height: 500, draw: () => <ConversationList /> },
  { name: 'part: inbox', height: 400, draw: () => <Inbox /> },
  { name: 'part: recent', height: 400, draw: () => <RecentConversations /> },
  { name: 'part: messages', height: 400, draw: () => <Messages channel={channel} topic={topic} /> },
  { name: 'part: composer', draw: () => <Composer channel={channel} topic={topic} /> },
  { name: 'part: people', height: 400, draw: () => <People /> },
];
