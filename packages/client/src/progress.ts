/** Part of `fetch` that the client uses. */
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** True in browsers; `fetch` reports no progress of uploads. */
export const canReport = (): boolean => 'XMLHttpRequest' in globalThis;

/** Returns a `fetch` that reports how much of the body was sent. */
export const sendWithProgress =
  (onProgress: (sentBytes: number, totalBytes: number) => void): Fetch =>
  (url, { method = 'GET', headers = {}, credentials, body, signal }) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const abort = () => request.abort();
      const settle = (end: () => void) => () => {
        signal?.removeEventListener('abort', abort);
        end();
      };
      request.open(method, url);
      request.withCredentials = credentials === 'include';
      for (const [name, value] of Object.entries(headers as Record<string, string>))
        request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total);
      request.onload = settle(() => {
        const { status, responseText } = request;
        const retryAfter = request.getResponseHeader('Retry-After');
        resolve(
          new Response(responseText, {
            status,
            ...(retryAfter !== null && { headers: { 'Retry-After': retryAfter } }),
          }),
        );
      });
      request.onerror = settle(() => reject(new TypeError('Network error')));
      request.onabort = settle(() => reject(signal?.reason));
      signal?.addEventListener('abort', abort);
      request.send((body ?? null) as XMLHttpRequestBodyInit | null);
    });
