import { enterChat, returnAddress } from '../../../chat.js';
import { startSession } from '../../../log-in.js';

export async function POST({ request }) {
  const form = new URLSearchParams(await request.text());
  const name = form.get('name') ?? '';
  const person = { id: name.trim().toLowerCase(), name };
  await enterChat(person);
  return new Response(null, {
    status: 303,
    headers: { 'Set-Cookie': startSession(person), Location: returnAddress(form.get('next')) },
  });
}
