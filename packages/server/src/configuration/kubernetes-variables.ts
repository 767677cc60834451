import type { Environment } from './env-file.js';

/**
 * Forms of the variables that Kubernetes adds to each pod for every service of its namespace, unless the pod has
 * `enableServiceLinks: false`. Those of a service named `parley` look like settings.
 */
const SERVICE_VARIABLE =
  /^PARLEY_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const SERVICE_PORT = /^PARLEY_(\w+_)?PORT$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;

/** Returns the names of these variables; none outside of Kubernetes. */
export function kubernetesVariables(environment: Readonly<Environment>): readonly string[] {
  if (!environment.KUBERNETES_SERVICE_HOST) return [];
  return Object.keys(environment).filter(
    (name) => SERVICE_VARIABLE.test(name) || (SERVICE_PORT.test(name) && SERVICE_ADDRESS.test(environment[name] ?? '')),
  );
}
