const form = document.forms[0], code = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
if (code) { form.code.value = code; form.submit(); }
