import { enterChat, returnAddress } from '../../chat.js';
import { startSession } from '../../log-in.js';

export default defineEventHandler(async (event) => {
  const { name = '', next } = (await readBody(event)) ?? {};
  const person = { id: name.trim().toLowerCase(), name };
  await enterChat(person);
  appendResponseHeader(event, 'Set-Cookie', startSession(person));
  return sendRedirect(event, returnAddress(next), 303);
});
