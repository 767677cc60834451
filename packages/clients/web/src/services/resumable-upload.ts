import { type ParleyClient, ParleyError } from '@parley/client';
import { DetailedError, Upload } from 'tus-js-client';
import type { SendOptions } from './uploads.js';

/** Bytes per part; data of an interrupted part is kept, too. */
const PART_BYTES = 4 * 1024 * 1024;
/** Delays grow to ten seconds. Retries cover a connection loss of half an hour. */
const RETRY_DELAYS_MS = [500, 1000, 2000, 5000, ...Array.from({ length: 180 }, () => 10_000)];

/**
 * Uploads a file with the tus protocol and returns its address. Resumes after a connection loss, and after a reload
 * once the same file is chosen again. `key` is a prefix for the storage keys of upload addresses.
 */
export async function sendResumable(
  client: ParleyClient,
  key: string,
  file: File,
  { signal, onProgress, onInterrupted }: SendOptions,
): Promise<string> {
  const { url: endpoint } = await client.resumableUploads();
  return new Promise((resolve, reject) => {
    const upload = new Upload(file, {
      endpoint,
      // Tokens expire during long uploads.
      async onBeforeRequest(request) {
        const { headers } = await client.resumableUploads();
        for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
      },
      // The library creates a new upload after a failed HEAD request, but retries after an error without a response.
      onAfterResponse(request, response) {
        const status = response.getStatus();
        if (request.getMethod() === 'HEAD' && isTemporary(status)) throw new Error(`HEAD returned ${status}`);
      },
      chunkSize: PART_BYTES,
      metadata: { filename: file.name, filetype: file.type },
      retryDelays: RETRY_DELAYS_MS,
      removeFingerprintOnSuccess: true,
      fingerprint: async () => [key, file.name, file.type, file.size, file.lastModified].join(' '),
      onShouldRetry(error) {
        const status = statusOf(error);
        const isRetried = status === null || isTemporary(status);
        if (isRetried) onInterrupted?.();
        return isRetried;
      },
      onProgress: (sent, total) => onProgress?.(sent, total),
      onSuccess: ({ lastResponse }) => resolve(urlOf(lastResponse.getBody(), upload.url ?? '')),
      onError: (error) => reject(reasonOf(error)),
    });
    signal?.addEventListener('abort', () => {
      // The server discards the partial upload, so that it does not count.
      void upload.abort(true).catch(() => {});
      reject(signal.reason);
    });
    void upload.findPreviousUploads().then(([previous]) => {
      if (previous) upload.resumeFromPreviousUpload(previous);
      upload.start();
    });
  });
}

const isTemporary = (status: number): boolean => status === 409 || status === 423 || status === 429 || status >= 500;

const statusOf = (error: Error): number | null =>
  error instanceof DetailedError ? (error.originalResponse?.getStatus() ?? null) : null;

/** Returns the address from the last response, or derives it from the upload address if the response was lost. */
function urlOf(body: string, uploadUrl: string): string {
  try {
    return (JSON.parse(body) as { url: string }).url;
  } catch {
    return `/user_uploads/${uploadUrl.split('/tus/')[1]}`;
  }
}

function reasonOf(error: Error): ParleyError {
  const status = statusOf(error) ?? 0;
  const body = error instanceof DetailedError ? (error.originalResponse?.getBody() ?? '') : '';
  try {
    const { msg, message = msg } = JSON.parse(body) as { msg?: string; message?: string };
    if (message !== undefined) return new ParleyError(message, 'BAD_REQUEST', status);
  } catch {}
  // A proxy's error page is not JSON.
  const code = status === 0 ? 'NO_CONNECTION' : status === 413 ? 'TOO_LARGE' : 'NOT_PARLEY';
  return new ParleyError('The server cannot be reached', code, status);
}
