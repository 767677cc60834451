import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** By Node's own codes; everything else is malformed. */
const UNREADABLE: Readonly<Record<string, readonly [status: string, msg: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Request header fields are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Payload Too Large', 'Request body is too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time'],
};
const MALFORMED = ['400 Bad Request', 'Malformed HTTP request'] as const;

/**
 * What Node cannot read is refused as everything else is, since clients expect JSON. Otherwise as Node does it: nothing is
 * written into an answer that has begun, and the connection ends.
 */
export function handleClientError({ code }: NodeJS.ErrnoException, duplex: Duplex): void {
  const socket = duplex as Socket & { readonly _httpMessage?: ServerResponse | null };
  if (socket.writable && !socket._httpMessage?.headersSent) {
    const [status, msg] = UNREADABLE[code ?? ''] ?? MALFORMED;
    const body = JSON.stringify({ result: 'error', msg, code: 'BAD_REQUEST' });
    socket.write(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}
