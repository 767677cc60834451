import { createHash } from 'node:crypto';
import { type Route, route } from '../declarations/route.js';
import { NoParameters } from '../params/params.js';
import type { Site } from './layout.js';

/**
 * Requests a passkey from the browser when a form with `data-passkey` is submitted, and submits its response. Avoids
 * the JSON functions of passkeys, which some browsers still lack. Links within `data-next` keep the URL fragment, which
 * names a place in the chat and is not sent to servers.
 */
const SCRIPT = `'use strict';
const toBytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (it) => it.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '');
const withIds = (list) => (list || []).map((it) => ({ ...it, id: toBytes(it.id) }));

async function create(options) {
  const publicKey = {
    ...options,
    challenge: toBytes(options.challenge),
    user: { ...options.user, id: toBytes(options.user.id) },
    excludeCredentials: withIds(options.excludeCredentials),
  };
  const made = await navigator.credentials.create({ publicKey });
  const { clientDataJSON, attestationObject } = made.response;
  const transports = made.response.getTransports ? made.response.getTransports() : [];
  return [made, { clientDataJSON: toText(clientDataJSON), attestationObject: toText(attestationObject), transports }];
}

async function get(options) {
  const publicKey = {
    ...options,
    challenge: toBytes(options.challenge),
    allowCredentials: withIds(options.allowCredentials),
  };
  const used = await navigator.credentials.get({ publicKey });
  const { clientDataJSON, authenticatorData, signature, userHandle } = used.response;
  return [used, {
    clientDataJSON: toText(clientDataJSON),
    authenticatorData: toText(authenticatorData),
    signature: toText(signature),
    userHandle: userHandle ? toText(userHandle) : undefined,
  }];
}

for (const link of location.hash ? document.querySelectorAll('[data-next] a') : []) {
  const address = new URL(link.href);
  address.searchParams.set('next', link.closest('[data-next]').dataset.next + location.hash);
  link.href = address.href;
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const problem = form.querySelector('[data-problem]');
  const missing = form.querySelector('[data-missing]');
  if (!window.PublicKeyCredential) {
    missing.hidden = false;
    continue;
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.hidden = true;
    try {
      const options = JSON.parse(form.dataset.options);
      const [{ id, type }, response] = await (form.dataset.passkey === 'create' ? create(options) : get(options));
      const fields = { id, rawId: id, type, response, clientExtensionResults: {} };
      form.elements.passkey.value = JSON.stringify(fields);
      form.submit();
    } catch {
      problem.hidden = false;
    }
  });
  form.querySelector('button').disabled = false;
}
`;

const PATH = '/accounts/passkeys.js';
const VERSION = createHash('sha256').update(SCRIPT).digest('hex').slice(0, 12);

export const pageScriptOf = ({ base }: Site): string => `${base}${PATH}?v=${VERSION}`;

/** The script never changes under the same version. */
export const pageScriptRoute: Route = route('GET', PATH, {
  summary: 'Get the script of the log-in pages',
  extension: 'extensions §1',
  auth: 'anyone',
  limit: 'none',
  atRoot: true,
  isNeverShed: true,
  dto: NoParameters,
  response: 'bytes',
  contentType: 'text/javascript',
  handle: async () => ({
    status: 200,
    body: SCRIPT,
    contentType: 'text/javascript; charset=utf-8',
    cacheControl: 'public, max-age=31536000, immutable',
  }),
});
