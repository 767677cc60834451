import type { IncomingMessage } from 'node:http';
import type { UserRef } from '../facade/references.js';

/** Whom the host application has logged in, in our terms. */
export type HostIdentity = UserRef;

/** Null: nobody, as far as the host application knows; the request may still carry an API key. */
export type HostAuthenticate = (request: IncomingMessage) => Promise<HostIdentity | null>;
