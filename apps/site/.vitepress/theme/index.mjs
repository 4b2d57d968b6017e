// The default theme, with programs that run in their page. The editor is loaded when one is opened.
import { useRoute, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { h, nextTick, onBeforeUnmount, onMounted, ref, watch } from 'vue';
import './theme.css';

let loaded;
/** The editor is no module of the site: the playground bundles it. */
const editor = () =>
  (loaded ??= import(/* @vite-ignore */ new URL(withBase('/play/js/editor.js'), location.href).href).catch(
    (error) => {
      loaded = undefined;
      throw error;
    },
  ));

const Playground = {
  setup() {
    const place = ref();
    let opened;
    onMounted(async () => {
      const { openPlayground } = await editor();
      if (place.value) opened = await openPlayground(place.value);
    });
    onBeforeUnmount(() => opened?.close());
    return () => h('div', { ref: place, class: 'playground' });
  },
};

/** What the default theme leaves out for those who do not see the page. */
function complete() {
  // Pages that are no guides have no landmark of their own.
  const content = document.getElementById('VPContent');
  if (content?.querySelector('main')) content.removeAttribute('role');
  else content?.setAttribute('role', 'main');
  // It is called what is written on it, with its key.
  document.querySelector('.DocSearch-Button')?.removeAttribute('aria-label');
}

const Layout = {
  setup() {
    const route = useRoute();
    onMounted(complete);
    watch(
      () => route.path,
      () => nextTick(complete),
    );
    return () => h(DefaultTheme.Layout);
  },
};

async function clicked({ target }) {
  const button = target instanceof Element ? target.closest('button.run') : null;
  const block = button?.closest('div[class*="language-"]');
  if (!block) return;
  button.disabled = true;
  try {
    const { runInPlace } = await editor();
    runInPlace(block, block.querySelector('pre').textContent, withBase('/playground'));
  } finally {
    button.disabled = false;
  }
}

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp({ app, router }) {
    app.component('Playground', Playground);
    if (import.meta.env.SSR) return;
    document.addEventListener('click', clicked);
    router.onBeforePageLoad = async () => (await loaded)?.closeAll();
  },
};
