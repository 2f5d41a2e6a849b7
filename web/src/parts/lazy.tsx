// A component whose script is loaded when it is first shown.

import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';

/** Shows a note while loading, and what to do when the script cannot be loaded. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const loaded = signal<ComponentType<P> | null>(null);
  const error = signal(false);
  let isRequested = false;
  return function Lazy(props: P) {
    if (!isRequested) {
      isRequested = true;
      load().then(
        (component) => {
          loaded.value = component;
        },
        () => {
          error.value = true;
        },
      );
    }
    const Component = loaded.value;
    if (Component) return <Component {...props} />;
    return error.value ? (
      <p class="problem">This part could not be loaded. Reload the page.</p>
    ) : (
      <p class="note">Loading.</p>
    );
  };
}
