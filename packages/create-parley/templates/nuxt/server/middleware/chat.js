import { parley } from '../../chat.js';

const chat = parley.mount('/chat');

export default defineEventHandler(({ path, node: { req, res } }) => {
  if (!/^\/chat(\/|\?|$)/.test(path)) return;
  return new Promise((resolve) => {
    res.once('close', resolve);
    chat(req, res);
  });
});

// Nitro waits for its requests, such as polls of the chat, which end here.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void parley.close());
