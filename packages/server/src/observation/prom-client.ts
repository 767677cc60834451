// Bundles name the members of a CommonJS module only in a static import; this module is imported on first use.
export { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
