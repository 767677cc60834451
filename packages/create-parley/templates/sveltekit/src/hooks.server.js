import { parley } from '../chat.js';

export const handle = ({ event, resolve }) =>
  /^\/chat(\/|$)/.test(event.url.pathname)
    ? parley.fetch(event.request, { address: event.getClientAddress() })
    : resolve(event);

// The server waits for its requests, such as polls of the chat, which end here.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void parley.close());
