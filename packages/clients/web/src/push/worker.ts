interface Policy {
  createScriptURL(url: string): string;
}

/** The only script address that the application loads itself. */
const policy: Policy = (
  globalThis as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } }
).trustedTypes?.createPolicy('parley-worker', { createScriptURL: (url) => url }) ?? { createScriptURL: (url) => url };

/** Registers the service worker of an organization and waits until it is active. */
export async function registerWorker(baseUrl: string): Promise<ServiceWorkerRegistration> {
  const script = policy.createScriptURL(`${baseUrl}web/service-worker.js`);
  const registration = await navigator.serviceWorker.register(script, { scope: baseUrl });
  const starting = registration.installing ?? registration.waiting;
  while (!registration.active && starting?.state !== 'redundant') {
    await new Promise((resolve) => starting?.addEventListener('statechange', resolve, { once: true }));
  }
  return registration;
}

/** Returns the organization's worker; null until it is registered. Host pages may have a worker for the whole site. */
export async function workerOf(baseUrl: string): Promise<ServiceWorkerRegistration | null> {
  const found = await navigator.serviceWorker.getRegistration(baseUrl);
  return found?.scope === baseUrl ? found : null;
}

/** Removes the worker of version 0.2, which was registered for its folder and would show each notification again. */
export async function removeFormerWorker(baseUrl: string): Promise<void> {
  const scope = `${baseUrl}web/`;
  const found = await navigator.serviceWorker.getRegistration(scope);
  if (found?.scope === scope) await found.unregister();
}
