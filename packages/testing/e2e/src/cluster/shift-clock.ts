/** Loaded into a node before its program: shifts the system time that it reads. */
const shiftMs = Number(process.env.CLUSTER_CLOCK_SHIFT_MS);
const machineNow = Date.now;
const now = () => machineNow() + shiftMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new Date().toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

export {};
